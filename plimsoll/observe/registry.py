"""Every observer there is. A new one is a file beside this one and a member of the tuple."""

from __future__ import annotations

from plimsoll.observe.mpstat import Mpstat
from plimsoll.observe.observer import Observer

OBSERVERS: tuple[type[Observer], ...] = (Mpstat,)
