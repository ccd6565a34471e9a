"""A run as it is at this moment, from its record alone."""
