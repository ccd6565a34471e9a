"""Bisection, with the options of trafficgen's binary search."""
