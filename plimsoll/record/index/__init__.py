"""The index of runs: what a folder of run directories holds, read quickly."""
