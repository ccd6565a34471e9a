"""A run in a pod of a cluster: deployed, followed over one exec session, gathered, removed."""
