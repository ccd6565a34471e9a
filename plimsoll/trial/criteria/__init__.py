"""The rules a trial must meet, one file each; registry.py lists them."""
