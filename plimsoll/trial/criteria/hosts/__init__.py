"""Criteria on what hosts did during a trial."""
