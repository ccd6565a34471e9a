"""One interface's link, as sysfs shows it: cheap enough to be read while a trial runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.ports.netdevs import SYS


@dataclass(frozen=True, slots=True)
class LinkState:
    """`index` tells an interface from another that took its name.

    `carrier` is False, too, while it is down; `losses` counts how often it was lost, None
    where the kernel does not count (before 4.16).
    """

    index: int
    carrier: bool
    losses: int | None


def read_link_state(name: str, sys: Path = SYS) -> LinkState | None:
    """The link of the interface; None where there is no interface of that name."""
    path = sys / "class/net" / name
    index = _number(path / "ifindex")
    if index is None:
        return None
    # The kernel answers EINVAL for the carrier while the interface is down.
    carrier = _number(path / "carrier") == 1
    return LinkState(index, carrier, _number(path / "carrier_down_count"))


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
