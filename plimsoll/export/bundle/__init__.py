"""A run as one archive, for another machine."""
