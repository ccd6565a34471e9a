"""Many test beds: the samples of a matrix as the indexes of one job, their records in a store."""
