"""Documents into a running OpenSearch, by its bulk protocol."""
