"""Several generators send one profile in turn, and are held against each other."""
