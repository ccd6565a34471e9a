"""The page of a trend: figures of runs over releases."""
