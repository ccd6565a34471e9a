"""A running run, as it is sent to browsers: read from its record alone."""
