"""Kernel events of the CPUs under test."""
