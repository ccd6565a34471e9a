"""TRex's captures: several at a time, each of some ports, over the captures of live traffic."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Literal

from plimsoll.benchmark.live_traffic.live_captures import PortCapture, ReceivedFrame
from plimsoll.remote.trex.messages.json_rpc import MethodRefused
from plimsoll.remote.trex.session.traffic import SentTraffic

_TERM = re.compile(r"ether (dst|src|host) ((?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2})", re.ASCII)
_DST, _SRC = slice(0, 6), slice(6, 12)
_PLACES = {"dst": (_DST,), "src": (_SRC,), "host": (_DST, _SRC)}


# The part of BPF's filter language that captures know: Ethernet addresses.
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


# TRex has as many at a time.
MAX_CAPTURES = 10
# Of one capture, which keeps them in memory.
MAX_PACKETS = 10_000
# Of a port, for as long as some capture of it is active: they lie in a file.
_MAX_FRAMES = 100_000
CaptureMode = Literal["fixed", "cyclic"]


@dataclass(frozen=True, slots=True)
class CapturedPacket:
    """A captured frame: the port that received it, and its number among those that matched."""

    port: int
    index: int
    frame: ReceivedFrame


@dataclass
class StlCapture:
    """One capture. In mode `fixed` the first packets are kept, in `cyclic` the last."""

    number: int
    ports: tuple[int, ...]
    limit: int
    mode: CaptureMode
    selected: FrameFilter
    begin_unix_ns: int
    active: bool = True
    matched: int = 0
    fetched: int = 0
    packets: deque[CapturedPacket] = field(default_factory=deque)

    def take(self, port: int, frame: ReceivedFrame) -> None:
        """Keep a frame that a port received, if it matches and there is room."""
        if not self.selected.matches(frame.data):
            return
        self.matched += 1
        if len(self.packets) == self.limit:
            if self.mode == "fixed":
                return
            self.packets.popleft()
        self.packets.append(CapturedPacket(port, self.matched, frame))

    def hand_over(self, most: int) -> list[CapturedPacket]:
        """The oldest packets, which are then forgotten."""
        found = [self.packets.popleft() for _ in range(min(most, len(self.packets)))]
        self.fetched += len(found)
        return found


class TrexCaptures:
    """All captures of a server.

    A port is captured for as long as an active capture has it. Its frames are given to each of
    these when a client asks for something.
    """

    def __init__(self, traffic: SentTraffic, unix_ns: Callable[[], int] = time.time_ns) -> None:
        self._traffic, self._unix_ns = traffic, unix_ns
        self._captures: dict[int, StlCapture] = {}
        self._numbers = count(1)
        # How many frames of each port that is captured have been given to its captures.
        self._seen: dict[int, int] = {}
        ports = [info.port for info in traffic.ports]
        traffic.prepare_captures(dict.fromkeys(ports, PortCapture(_MAX_FRAMES)))

    def start(
        self, ports: Sequence[int], limit: int, mode: CaptureMode, selected: FrameFilter
    ) -> StlCapture:
        """Begin one. Raises MethodRefused where there are too many, and GeneratorRefused."""
        if len(self._captures) >= MAX_CAPTURES:
            raise MethodRefused(
                f"capture start: there are {MAX_CAPTURES} captures; remove one of them"
            )
        capture = StlCapture(
            next(self._numbers), tuple(dict.fromkeys(ports)), limit, mode, selected, self._unix_ns()
        )
        self._update(capture.ports)
        for port in capture.ports:
            if port not in self._seen:
                self._traffic.start_capture(port)
                self._seen[port] = 0
        self._captures[capture.number] = capture
        return capture

    def stop(self, number: int) -> StlCapture:
        """End one, which keeps its packets. Raises MethodRefused where there is none."""
        capture = self._known(number)
        if capture.active:
            self._update(capture.ports)
            capture.active = False
            self._release(capture.ports)
        return capture

    def fetch(self, number: int, most: int) -> tuple[StlCapture, list[CapturedPacket]]:
        """The oldest packets of one, which it then no longer has. Raises as `stop` does."""
        capture = self._known(number)
        if capture.active:
            self._update(capture.ports)
        return capture, capture.hand_over(most)

    def remove(self, number: int) -> None:
        """Forget one. Raises as `stop` does."""
        del self._captures[self.stop(number).number]

    def all(self) -> list[StlCapture]:
        """Those that there are, up to date."""
        self._update(tuple(self._seen))
        return list(self._captures.values())

    def _known(self, number: int) -> StlCapture:
        if number not in self._captures:
            raise MethodRefused(f"capture: there is no capture {number}")
        return self._captures[number]

    def _update(self, ports: Sequence[int]) -> None:
        """Give what these ports have received to their captures, in the order of its times."""
        new = [(port, frame) for port in ports if port in self._seen for frame in self._new(port)]
        active = [each for each in self._captures.values() if each.active]
        for port, frame in sorted(new, key=lambda each: each[1].unix_ns):
            for capture in active:
                if port in capture.ports:
                    capture.take(port, frame)

    def _new(self, port: int) -> list[ReceivedFrame]:
        frames = self._traffic.captured(port).frames()
        found = list(islice(frames, self._seen[port], None))
        self._seen[port] += len(found)
        return found

    def _release(self, ports: Sequence[int]) -> None:
        """Capture those no more that no active capture has."""
        in_use = {port for each in self._captures.values() if each.active for port in each.ports}
        for port in ports:
            if port not in in_use:
                del self._seen[port]
                self._traffic.stop_capture(port)
