"""From a stream to its frames: packets built, fields found, captures read."""
