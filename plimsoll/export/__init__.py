"""The record in other programs' forms: Common Data Model, CSV, histogram logs, Parquet."""
