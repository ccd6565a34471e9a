"""What the hosts did while the frames of a trial were sent."""
