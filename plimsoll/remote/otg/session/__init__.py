"""One client's configuration on one test bed: state, metrics, captures."""
