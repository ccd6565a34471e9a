"""Kubernetes: runs in pods, many of them as jobs, and what a cluster does meanwhile."""
