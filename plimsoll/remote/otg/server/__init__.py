"""The API over REST and gRPC."""
