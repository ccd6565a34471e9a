"""The part of BPF's filter language that captures know: Ethernet addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.remote.trex.messages.json_rpc import MethodRefused

_TERM = re.compile(r"ether (dst|src|host) ((?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2})", re.ASCII)
_DST, _SRC = slice(0, 6), slice(6, 12)
_PLACES = {"dst": (_DST,), "src": (_SRC,), "host": (_DST, _SRC)}


@dataclass(frozen=True, slots=True)
class FrameFilter:
    """Frames with one of these MAC addresses at their places; all frames where there is none."""

    text: str = ""
    addresses: frozenset[tuple[str, bytes]] = frozenset()

    def matches(self, frame: bytes) -> bool:
        """Whether a frame, of which the addresses at least are there, is one of them."""
        if not self.addresses:
            return True
        return any(
            frame[place] == address for name, address in self.addresses for place in _PLACES[name]
        )


def read_filter(text: str) -> FrameFilter:
    """`ether dst|src|host MAC`, several joined by `or`; nothing for all frames.

    Raises MethodRefused for any other.
    """
    if not text.strip():
        return FrameFilter()
    terms = [" ".join(term.split()) for term in text.lower().split(" or ")]
    found = [_TERM.fullmatch(term) for term in terms]
    addresses = {(each[1], _mac(each[2])) for each in found if each}
    if not all(found):
        raise MethodRefused(
            f"BPF filter: '{text}': captures know `ether dst`, `ether src` and `ether host` with "
            "a MAC address, joined by `or`, and no filter at all"
        )
    return FrameFilter(text, frozenset(addresses))


def _mac(text: str) -> bytes:
    return bytes(int(part, 16) for part in text.split(":"))
