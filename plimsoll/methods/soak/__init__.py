"""Hours at one load, judged per window and over all."""
