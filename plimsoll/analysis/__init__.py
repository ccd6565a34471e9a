"""Runs opened for looking at: the Python API of the record (docs/python.md)."""
