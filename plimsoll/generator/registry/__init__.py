"""Which generators there are, and how an experiment names one."""
