"""What an Open vSwitch's datapath did: packets, caches' hits, upcalls, cycles, flows."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.dut.ovs.figures import Figures, read_figures, read_kernel_figures
from plimsoll.observe.reading.observer import NotObservable, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_BLOCK_BYTES = 65536
_LONGEST_ANSWER_BYTES = 1 << 20


def _rate(kind: str, unit: str) -> MetricType:
    return MetricType("ovs", kind, "count", unit, "sum", counted=True, carried=True)


_PACKETS = _rate("packets-sec", "packets/s")
_RECIRCULATIONS = _rate("recirculations-sec", "packets/s")
_LOOKUPS = _rate("lookups-sec", "packets/s")
_MASK_LOOKUPS = _rate("mask-lookups-sec", "masks/s")
_CYCLES = _rate("cycles-sec", "cycles/s")
_FLOWS = MetricType("ovs", "datapath-flows", "count", "flows", "max", carried=True)
_LIMIT = MetricType("ovs", "datapath-flow-limit", "count", "flows", "min", carried=True)
# Each with its series: the type, and the name of what it counts.
_FIGURES: dict[str, tuple[MetricType, dict[str, str]]] = {
    "packets received": (_PACKETS, {}),
    "packet recirculations": (_RECIRCULATIONS, {}),
    "phwol hits": (_LOOKUPS, {"kind": "offload"}),
    "simple match hits": (_LOOKUPS, {"kind": "simple-match"}),
    "emc hits": (_LOOKUPS, {"kind": "emc"}),
    "smc hits": (_LOOKUPS, {"kind": "smc"}),
    "megaflow hits": (_LOOKUPS, {"kind": "megaflow"}),
    "miss with success upcall": (_LOOKUPS, {"kind": "upcall"}),
    "miss with failed upcall": (_LOOKUPS, {"kind": "failed-upcall"}),
    "mask cache hits": (_LOOKUPS, {"kind": "mask-cache"}),
    "mask lookups": (_MASK_LOOKUPS, {}),
    "idle cycles": (_CYCLES, {"kind": "idle"}),
    "processing cycles": (_CYCLES, {"kind": "processing"}),
}
_UPCALLS, _USERSPACE, _KERNEL = "upcall/show", "dpif-netdev/pmd-stats-show", "dpctl/show"
# Whose flows `upcall/show` tells of: those that the switch itself has a bridge of.
_DATAPATH = re.compile(r"^((netdev|system)@\S+):$", re.MULTILINE)
_CURRENT_FLOWS = re.compile(r"flows\s*: \(current (\d+)\).*\(limit (\d+)\)")
_PMD = re.compile(r"pmd thread numa_id (\d+) core_id (\d+)")
# How long a reading may wait; of short intervals, a quarter. The first comes before any trial.
_PATIENCE_S = 0.2
_FIRST_PATIENCE_S = 5.0


class OpenVswitch(Observer):
    """Of each switch (`app`) by `thread`: "pmd" with its `core`, "main", or "kernel".

    The last is the datapath in the kernel, which counts on all CPUs together. What it found by
    its cache of masks is there apart from what it found without.

    Queried on its control socket, which the switch's main thread answers; the polling threads
    count for themselves and are not stopped for it. A switch that does not answer within 0.2 s
    has no series until it does.
    """

    source = "ovs"
    waits = True
    summary = "packets, cache hits, upcalls and cycles of Open vSwitch's datapaths, by ovs-appctl"
    types = (_PACKETS, _RECIRCULATIONS, _LOOKUPS, _MASK_LOOKUPS, _CYCLES, _FLOWS, _LIMIT)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._interval_s = host.observation.interval_s
        sockets = host.observation.openvswitch
        if not sockets:
            raise NotObservable("no Open vSwitch of this host is part of the test bed")
        self._switches = [_Switch(app, Path(path)) for app, path in sockets.items()]
        self._read(readings, _FIRST_PATIENCE_S)
        if troubles := [each.trouble for each in self._switches if each.trouble]:
            raise NotObservable("; ".join(troubles))

    def read(self, readings: Readings) -> None:
        """Ask each, and tell what it answers."""
        self._read(readings, min(_PATIENCE_S, self._interval_s / 4))

    def _read(self, readings: Readings, patience_s: float) -> None:
        for switch in self._switches:
            switch.read(readings, patience_s)


class _Switch:
    def __init__(self, app: str, path: Path) -> None:
        self._app = app
        self._path = path
        self._socket: ControlSocket | None = None
        self._series: dict[tuple[str, str], int] = {}
        # Why it was not read last time.
        self.trouble: str | None = None

    def read(self, readings: Readings, patience_s: float) -> None:
        deadline_s = time.monotonic() + patience_s
        try:
            if self._socket is None:
                self._socket = ControlSocket(self._path)
            upcalls = self._socket.ask(_UPCALLS, deadline_s)
            threads = _figures(self._socket, upcalls, deadline_s)
        except (OSError, ValueError) as error:
            self._lose(f"{self._app}: {error}", readings)
            return
        self.trouble = None
        for thread, figures in threads.items():
            self._tell_thread(thread, figures, readings)
        if found := _CURRENT_FLOWS.search(upcalls):
            for metric, value in zip((_FLOWS, _LIMIT), found.groups(), strict=True):
                number = self._number(metric, "", metric.type, {}, readings)
                readings.value(number, int(value))

    def __del__(self) -> None:
        # An observer lives as long as a trial.
        if self._socket is not None:
            self._socket.close()

    def _tell_thread(self, thread: str, figures: Mapping[str, int], readings: Readings) -> None:
        names = dict(_thread_names(thread))
        for name, count in figures.items():
            if name in _FIGURES:
                metric, own = _FIGURES[name]
                readings.total(self._number(metric, thread, name, names | own, readings), count)

    def _number(
        self,
        metric: MetricType,
        thread: str,
        figure: str,
        names: Mapping[str, str],
        readings: Readings,
    ) -> int:
        key = (thread, figure)
        if key not in self._series:
            self._series[key] = readings.series(metric, {"app": self._app, **names})
        return self._series[key]

    def _lose(self, trouble: str, readings: Readings) -> None:
        """Hang up, and begin anew at the next reading: an answer that came late is no news."""
        self.trouble = trouble
        for number in self._series.values():
            readings.absent(number)
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def _figures(switch: ControlSocket, upcalls: str, deadline_s: float) -> Figures:
    """Of all threads and datapaths of a switch that has answered `upcall/show` so."""
    datapaths = {kind: name for name, kind in _DATAPATH.findall(upcalls)}
    found: Figures = {}
    if "system" in datapaths:
        found |= read_kernel_figures(switch.ask(_KERNEL, deadline_s, datapaths["system"]))
    if "system" not in datapaths or "netdev" in datapaths:
        found |= read_figures(switch.ask(_USERSPACE, deadline_s))
    return found


def _thread_names(thread: str) -> Iterator[tuple[str, str]]:
    if pmd := _PMD.fullmatch(thread):
        yield "thread", "pmd"
        yield "core", pmd[2]
    elif _DATAPATH.match(f"{thread}:"):
        yield "thread", "kernel"
    else:
        yield "thread", thread.removesuffix(" thread")


# Asking a running ovs-vswitchd as ovs-appctl does, without a process for each question.
#
# The protocol is JSON-RPC 1.0 over a stream of objects (ovs-appctl(8), python/ovs/unixctl).
class ControlSocket:
    """One connection. Raises OSError where nothing listens, ValueError for what is no answer."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(0)
            self._socket.connect(str(path))
        except BaseException:
            self._socket.close()
            raise
        self._number = 0
        self._unread = b""

    def ask(self, command: str, deadline_s: float, *parameters: str) -> str:
        """What the command prints, by `deadline_s` of the monotonic clock.

        Raises OSError (TimeoutError where it did not come) and ValueError; then close it: an
        answer that is still owed would be taken for the next.
        """
        self._number += 1
        request = {"id": self._number, "method": command, "params": parameters}
        self._socket.settimeout(_left(deadline_s))
        self._socket.sendall(json.dumps(request).encode())
        answer = self._answer(deadline_s)
        if answer.get("id") != self._number or not isinstance(answer.get("result"), str):
            raise ValueError(f"ovs-vswitchd does not answer {command}: {answer.get('error')}")
        return str(answer["result"])

    def close(self) -> None:
        """Hang up; safe to repeat."""
        self._socket.close()

    def _answer(self, deadline_s: float) -> dict[str, object]:
        decoder = json.JSONDecoder()
        while True:
            try:
                text = self._unread.decode()
                answer, end = decoder.raw_decode(text.lstrip())
            except ValueError:
                # It is not whole yet.
                if len(self._unread) > _LONGEST_ANSWER_BYTES:
                    raise
                self._receive(deadline_s)
                continue
            self._unread = text.lstrip()[end:].encode()
            if not isinstance(answer, dict):
                raise ValueError("ovs-vswitchd answers with what is no object")
            return answer

    def _receive(self, deadline_s: float) -> None:
        self._socket.settimeout(_left(deadline_s))
        block = self._socket.recv(_BLOCK_BYTES)
        if not block:
            raise ConnectionResetError("ovs-vswitchd has hung up")
        self._unread += block


def _left(deadline_s: float) -> float:
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError("no answer in time")
    return left_s


OBSERVER = OpenVswitch
