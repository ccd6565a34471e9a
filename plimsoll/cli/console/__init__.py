"""Traffic by hand: the prompt and its commands."""
