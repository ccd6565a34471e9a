"""A churn run: cells of network and level, one after the other, on one cluster."""
