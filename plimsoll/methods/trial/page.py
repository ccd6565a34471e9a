"""The page of one trial: that of a search, of which it has a part."""

from plimsoll.methods.load_line.page import run_page

__all__ = ["run_page"]
