"""Servers that speak other generators' languages, so that scripts for those run on ours."""
