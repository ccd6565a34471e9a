"""The latency of one frame in flight, over hours."""
