"""Runs as documents of Crucible's Common Data Model (docs/interchange.md)."""
