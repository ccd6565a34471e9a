"""What took the polling loops away: incidents, kernel events and counters in, causes out."""
