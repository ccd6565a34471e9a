"""An Open Traffic Generator: its API, over our engine."""
