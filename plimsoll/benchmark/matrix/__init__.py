"""A matrix: one experiment in many combinations of its fields, each run several times."""
