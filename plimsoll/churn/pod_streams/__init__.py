"""TCP streams between pods of a cluster, on its own networks."""
