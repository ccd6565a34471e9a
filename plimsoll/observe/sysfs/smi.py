"""System management interrupts, in which the firmware takes all CPUs away from the kernel."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from plimsoll.host.cpus import online_cpus
from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_SMIS = MetricType("smi", "smis-sec", "count", "SMIs/s", "sum", counted=True, carried=True)
# MSR_SMI_COUNT, Intel SDM volume 4: bits 31:0 count since reset.
_MSR_SMI_COUNT = 0x34
_COUNT = (1 << 32) - 1


class Smi(Observer):
    """The count of one CPU for the whole host: an SMI stops all CPUs, and each counts it.

    Reading an MSR runs on the CPU in question, by an interrupt unless the reader is there:
    never one under test, and rather one of those that the agent keeps to.
    """

    source = "smi"
    summary = "system management interrupts, from Intel's MSR 0x34 in /dev/cpu/*/msr"
    types = (_SMIS,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        cpu = next(_housekeeping_cpus(host.files, host.observation), None)
        if cpu is None:
            raise NotObservable(
                "every CPU is under test, and reading the count of SMIs would interrupt one: "
                "leave a CPU to the rest of the host"
            )
        self._register = SmiCount(host.files.dev / f"cpu/{cpu}/msr")
        self._series = readings.series(_SMIS, {})

    def read(self, readings: Readings) -> None:
        """Tell the count."""
        readings.total(self._series, self._register.read())


class SmiCount:
    """The register of one CPU, held open."""

    def __init__(self, path: Path) -> None:
        """Try it. Raises NotObservable saying what would help."""
        self._descriptor = -1
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self.read()
        except FileNotFoundError as error:
            raise _unreadable(path, error, "load the kernel module msr") from error
        except PermissionError as error:
            remedy = "run as root, with Secure Boot's kernel lockdown off"
            raise _unreadable(path, error, remedy) from error
        except OSError as error:
            raise _unreadable(path, error, "only Intel CPUs count SMIs there") from error

    def read(self) -> int:
        """SMIs since reset, modulo 2^32. Raises OSError."""
        content = os.pread(self._descriptor, 8, _MSR_SMI_COUNT)
        if len(content) != 8:
            raise OSError(f"{len(content)} bytes instead of 8")
        value: int = struct.unpack("<Q", content)[0]
        return value & _COUNT

    def __del__(self) -> None:
        # An observer lives as long as a trial.
        if self._descriptor >= 0:
            os.close(self._descriptor)


def _housekeeping_cpus(files: HostFiles, observation: Observation) -> Iterator[int]:
    """Those that the agent runs on first."""
    online = sorted(online_cpus(files.sys / "devices/system/cpu/online"))
    own = [cpu for cpu in online if cpu in observation.run_on]
    others = [cpu for cpu in online if cpu not in observation.run_on]
    return (cpu for cpu in own + others if cpu not in observation.polled_cpus)


def _unreadable(path: Path, error: OSError, remedy: str) -> NotObservable:
    return NotObservable(f"{path}: {error.strerror or error} ({remedy})")


OBSERVER = Smi
