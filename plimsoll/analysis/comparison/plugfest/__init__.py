"""What a plugfest found: its cells, and their differences."""
