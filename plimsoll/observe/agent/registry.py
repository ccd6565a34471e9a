"""Every observer there is: the files in the folders of `observe` that have one."""

from __future__ import annotations

from plimsoll.observe.reading.observer import Observer
from plimsoll.plug_ins import registered

_FOLDERS = ("procfs", "sysfs", "cgroups", "network", "openvswitch", "dpdk")
# Those that may have to wait for what they read come last.
OBSERVERS: tuple[type[Observer], ...] = tuple(
    sorted(
        registered((f"plimsoll.observe.{each}" for each in _FOLDERS), "OBSERVER"),
        key=lambda observer: observer.waits,
    )
)
