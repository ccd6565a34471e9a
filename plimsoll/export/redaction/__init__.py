"""A run without what says whose it is."""
