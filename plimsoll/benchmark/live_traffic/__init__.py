"""Traffic that is started, changed and stopped while it is watched, on any test bed."""
