"""Kubernetes: runs in pods, and matrices of them as jobs."""
