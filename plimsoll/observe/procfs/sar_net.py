"""What each network device carried, dropped and found bad, from /proc/net/dev."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plimsoll.observe.reading.host_files import RereadFile, printable
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


def _rate(kind: str, unit: str, scale: float = 1.0) -> MetricType:
    return MetricType(
        "sar-net", kind, "throughput", unit, "sum", counted=True, carried=True, scale=scale
    )


# Counted in bytes, as the driver counts them: usually without the FCS.
_BYTES = _rate("L2-Gbps", "Gbps", 8e-9)
_PACKETS = _rate("packets-sec", "pps")
_ERRORS = _rate("errors-sec", "1/s")
# By column behind the device's name: bytes, packets, errors and drops of each direction. The
# others (fifo, frame, collisions, carrier) are kinds of errors or drops, and not counted twice.
_COLUMNS: tuple[tuple[int, MetricType, Mapping[str, str]], ...] = (
    (0, _BYTES, {"direction": "rx"}),
    (1, _PACKETS, {"direction": "rx"}),
    (2, _ERRORS, {"direction": "rx", "error": "bad"}),
    (3, _ERRORS, {"direction": "rx", "error": "dropped"}),
    (8, _BYTES, {"direction": "tx"}),
    (9, _PACKETS, {"direction": "tx"}),
    (10, _ERRORS, {"direction": "tx", "error": "bad"}),
    (11, _ERRORS, {"direction": "tx", "error": "dropped"}),
)
_FEWEST_COLUMNS = 16


class SarNet(Observer):
    """Each device by `direction`; `type` says whether it is physical or virtual.

    Physical is what sits on a bus (PCI, virtio, USB, …) and so has a device in /sys. Errors
    have an `error`: bad (the kernel's rx_errors, tx_errors), or dropped (rx_dropped and
    rx_missed, tx_dropped). One file for all devices: each attribute in /sys would make the
    driver sum up all its statistics once more.
    """

    source = "sar-net"
    summary = "traffic, drops and errors of network devices, from /proc/net/dev"
    types = (_BYTES, _PACKETS, _ERRORS)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._file = RereadFile(host.files.proc / "net/dev")
        self._classes = host.files.sys / "class/net"
        self._lines: dict[bytes, bytes] = {}
        self._series: dict[bytes, list[int]] = {}

    def read(self, readings: Readings) -> None:
        """Tell what was counted since the last reading; devices may come and go."""
        # Two lines of headings.
        lines = self._file.read().splitlines()[2:]
        # No digit is a colon, whatever the name may hold.
        devices = {line[: line.rindex(b":")]: line for line in lines}
        for gone in self._lines.keys() - devices.keys():
            del self._lines[gone]
            for series in self._series.pop(gone):
                readings.absent(series)
        for device, line in devices.items():
            if self._lines.get(device) != line:
                self._lines[device] = line
                self._tell(device, line[len(device) + 1 :].split(), readings)

    def _tell(self, device: bytes, counters: list[bytes], readings: Readings) -> None:
        if len(counters) < _FEWEST_COLUMNS:
            raise ValueError(f"{self._file.path} has other columns")
        if device not in self._series:
            self._series[device] = self._series_of(device.strip(), readings)
        for series, (column, _, _) in zip(self._series[device], _COLUMNS, strict=True):
            readings.total(series, int(counters[column]))

    def _series_of(self, device: bytes, readings: Readings) -> list[int]:
        own = {"dev": printable(device), "type": _type(self._classes, device)}
        return [readings.series(metric, {**own, **names}) for _, metric, names in _COLUMNS]


def _type(classes: Path, device: bytes) -> str:
    physical = b"/" not in device and (classes / os.fsdecode(device) / "device").exists()
    return "physical" if physical else "virtual"


OBSERVER = SarNet
