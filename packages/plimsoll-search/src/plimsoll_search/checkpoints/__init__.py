"""A list of loads, measured and judged as a curve."""
