"""Phases in which the DUT serves at less than its capacity."""
