"""bench-trafficgen's binary-search.py, imported as an experiment that does the same."""
