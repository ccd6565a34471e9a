"""The six tests of RFC 2544."""
