"""What hosts do while trials run: one file a source, registry.py lists them."""
