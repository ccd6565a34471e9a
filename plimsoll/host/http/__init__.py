"""HTTP clients that hold credentials: which server these are for."""
