"""A run that goes on, as it is sent to browsers: read from its record alone."""
