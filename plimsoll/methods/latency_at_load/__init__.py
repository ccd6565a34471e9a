"""Latency at shares of a rate."""
