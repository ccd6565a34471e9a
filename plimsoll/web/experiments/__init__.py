"""Experiments of the page: written, checked, started and stopped."""
