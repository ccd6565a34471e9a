"""The methods, a folder each, which is also what registers it: see record/methods/folders.py."""
