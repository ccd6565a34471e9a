"""Captures of ports: as configured, switched on and off, and handed over."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice

from plimsoll.benchmark.live_traffic.live_captures import (
    MAX_SNAP_BYTES,
    PortCapture,
    as_pcap,
    as_pcapng,
    with_fcs,
)
from plimsoll.remote.otg.flows.ends import OtgPort
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import Refusals
from plimsoll.remote.otg.session.transmission import FlowTraffic
from plimsoll.search.text.wire import FCS_BYTES

# Kept of a port between start and stop. The files lie where the state does, mostly in memory, and
# an answer is held in memory whole: 150 MB of full frames.
MAX_FRAMES = 100_000
_MAX_SNAP_BYTES = MAX_SNAP_BYTES + FCS_BYTES


@dataclass(frozen=True, slots=True)
class OtgCapture:
    """What is captured of a port, and in which format it is handed over.

    Sizes are with FCS, as all of OTG's, to which those who read captures hold them.
    """

    port: OtgPort
    snap_bytes: int = _MAX_SNAP_BYTES
    pcapng: bool = False

    @property
    def kept(self) -> PortCapture:
        """What the tester is to keep."""
        return PortCapture(MAX_FRAMES, min(self.snap_bytes, MAX_SNAP_BYTES))


def read_captures(
    config: Given, ports: Mapping[str, OtgPort], refusals: Refusals
) -> dict[str, OtgCapture]:
    """Those of a configuration, by port; what cannot be met is added to the refusals."""
    captures: dict[str, OtgCapture] = {}
    for given in config.parts("captures"):
        with refusals.collecting(given):
            for each in _read_capture(given, ports):
                if each.port.name in captures:
                    raise given.refused(
                        "port_names", f"another capture has the port {each.port.name!r}"
                    )
                captures[each.port.name] = each
    return captures


def _read_capture(given: Given, ports: Mapping[str, OtgPort]) -> list[OtgCapture]:
    # What is full is left out in any case, and said when the capture is stopped.
    given.leave("name", "overwrite")
    snap_bytes = given.whole("packet_size") if given.has("packet_size") else _MAX_SNAP_BYTES
    if snap_bytes < 1:
        raise given.refused("packet_size", "is no length", "give at least 1, or none for all")
    pcapng = given.text("format") == "pcapng"
    names = dict.fromkeys(given.names("port_names"))
    for name in names:
        if name not in ports:
            raise given.refused("port_names", f"there is no port {name!r}")
    return [OtgCapture(ports[n], min(snap_bytes, _MAX_SNAP_BYTES), pcapng) for n in names]


class PortCaptures:
    """The captures of one configuration, over live traffic."""

    def __init__(self, traffic: FlowTraffic) -> None:
        self._traffic = traffic
        self._captures: Mapping[str, OtgCapture] = {}
        self._started: set[str] = set()

    @property
    def started(self) -> Collection[str]:
        """The names of ports that are captured now."""
        return self._started

    def replace_all(self, captures: Mapping[str, OtgCapture]) -> None:
        """Forget all that was captured, and know these. Nothing may be sent. Raises PlimsollError.

        Where nothing is to be captured, the generator need not be able to.
        """
        self._started.clear()
        self._traffic.prepare_captures(
            {capture.port.number: capture.kept for capture in captures.values()}
        )
        self._captures = dict(captures)

    def set_state(self, given: Given) -> list[str]:
        """Start or stop those that are named, by default all; warnings of what was left out."""
        names = given.names("port_names") or list(self._captures)
        for name in names:
            self._named(given, "port_names", name)
        if given.text("state") == "start":
            for name in names:
                self._traffic.start_capture(self._captures[name].port.number)
                self._started.add(name)
            return []
        return [warning for name in names for warning in self._stop(name)]

    def file_of(self, given: Given) -> bytes:
        """The file of a port that a request names: all of it, or the frames that it says."""
        name = given.text("port_name")
        capture = self._named(given, "port_name", name)
        packets = given.part("packets")
        first, last = 0, None
        if packets.choice == "slice":
            part = packets.part("slice").part("initial")
            first = part.whole("start") - 1
            last = first + part.whole("count")
        frames = islice(self._traffic.captured(capture.port.number).frames(), first, last)
        sized = with_fcs(frames, capture.snap_bytes)
        return (as_pcapng if capture.pcapng else as_pcap)(sized, capture.snap_bytes)

    def _stop(self, name: str) -> list[str]:
        number = self._captures[name].port.number
        self._traffic.stop_capture(number)
        self._started.discard(name)
        captured = self._traffic.captured(number)
        if captured.error is not None:
            return [f"the capture of {name} could not be written to its end: {captured.error}"]
        if captured.left_out > 0:
            return [
                f"{captured.left_out} frames are not in the capture of {name}: they came faster "
                f"than they were written, or after the first {MAX_FRAMES}"
            ]
        return []

    def _named(self, given: Given, field: str, name: str) -> OtgCapture:
        if name not in self._captures:
            raise given.refused(field, f"no capture is configured for a port {name!r}")
        return self._captures[name]
