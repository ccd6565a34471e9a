"""The addresses that bench-trafficgen gives its streams: each a range of its own.

As its trex-txrx-profile.py draws them, one stream after the other: networks from 10.2.0.0
on, two for each stream whose addresses vary, single addresses of 10.0.0.0 and 10.1.0.0 for
the others, and random MAC addresses of which no two share their first four bytes. Streams
that share a stream_id share all of it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from plimsoll.errors import InputError

SRC_PORT, DST_PORT = 32768, 49152
# 10.2.0.0 to 10.255.0.0, two for each stream.
_FIRST_NETWORK, _LAST_NETWORK = 2, 255
_STATIC_IPS = ("10.0.0.0", "10.1.0.0")
_MAC_VENDOR = "00:16:3e"
_MOST_PREFIXES = 256


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """What one stream sends from and to, as in the forward direction."""

    src_mac: str
    dst_mac: str
    src_ip: str
    dst_ip: str


@dataclass
class AddressPool:
    """What is left to draw. With the same seed it draws what trafficgen does with it."""

    seed: float = 0.0
    _networks: int = _FIRST_NETWORK
    _static: int = 0
    _prefixes: set[int] = field(default_factory=set)
    _shared: dict[str, DrawnEnds] = field(default_factory=dict)
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Begin to draw."""
        self._chance = random.Random(self.seed)  # noqa: S311 - trafficgen's own generator

    def draw(self, stream_id: str, *, ip_flows: bool) -> DrawnEnds:
        """The next stream's; those of an earlier one with this id, if there is one.

        Raises InputError, without a place, where none are left.
        """
        if stream_id and stream_id in self._shared:
            return self._shared[stream_id]
        src_ip, dst_ip = self._varying_ips() if ip_flows else self._static_ips()
        drawn = DrawnEnds(self._mac(), self._mac(), src_ip, dst_ip)
        if stream_id:
            self._shared[stream_id] = drawn
        return drawn

    def _varying_ips(self) -> tuple[str, str]:
        if self._networks + 1 > _LAST_NETWORK:
            raise InputError(
                f"there are networks for {(_LAST_NETWORK - 1) // 2} streams whose addresses vary",
                remedy="use fewer streams, or give some the same stream_id",
            )
        self._networks += 2
        return f"10.{self._networks - 2}.0.0", f"10.{self._networks - 1}.0.0"

    def _static_ips(self) -> tuple[str, str]:
        source, destination = (str(IPv4Address(start) + self._static) for start in _STATIC_IPS)
        self._static += 1
        return source, destination

    def _mac(self) -> str:
        if len(self._prefixes) == _MOST_PREFIXES:
            raise InputError(
                f"there are MAC addresses for {_MOST_PREFIXES // 2} streams",
                remedy="use fewer streams, or give some the same stream_id",
            )
        while (prefix := self._chance.randint(0, 255)) in self._prefixes:
            pass
        self._prefixes.add(prefix)
        low = [self._chance.randint(0, 255) for _ in range(2)]
        return ":".join([_MAC_VENDOR, *(f"{byte:02x}" for byte in (prefix, *low))])
