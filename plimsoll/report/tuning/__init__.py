"""The part of a report that tells how the host was tuned, and what came of it."""
