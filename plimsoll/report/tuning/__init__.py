"""The part of a report on how the host was tuned, and whether counters confirm it."""
