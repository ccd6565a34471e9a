"""Plimsoll finds, proves and explains the load line of a packet dataplane."""

from plimsoll.version import VERSION as __version__

__all__ = ["__version__"]
