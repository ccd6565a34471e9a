"""The page of a comparison: sides held against the first of them."""
