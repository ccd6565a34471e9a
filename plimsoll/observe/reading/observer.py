"""What an observer is: something that reads one source of a host's figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.observe.reading.host_files import HostFiles
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType


# What an agent is to observe on its host.
class Observation(BaseModel):
    """Said once, before the first period. `interval_s` is the time between two readings.

    `sources` names the observers selected, None for all. The agent keeps to the CPUs of
    `run_on`, or, where that is empty, off the polled ones if there are others. `polled_cpus` are
    those under test: nothing may be read in a way that interrupts them. `pids` are the processes
    under test, by a name for each, whose cgroups are watched; `telemetry` the sockets of DPDK
    processes, by name. `openvswitch` are the control sockets of running ovs-vswitchd, by a name
    for each. `namespaces` are the files of network namespaces under test, by name; the host's own
    is read in any case. `resctrl` are the directories of the experiment's resctrl groups, by name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval_s: float = Field(default=1.0, ge=0.1, le=3600)
    sources: tuple[str, ...] | None = None
    run_on: tuple[int, ...] = ()
    polled_cpus: tuple[int, ...] = ()
    pids: dict[str, int] = Field(default_factory=dict)
    telemetry: dict[str, str] = Field(default_factory=dict)
    openvswitch: dict[str, str] = Field(default_factory=dict)
    namespaces: dict[str, str] = Field(default_factory=dict)
    resctrl: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObservedHost:
    """The host that is read, and what is to be observed."""

    files: HostFiles = field(default_factory=HostFiles)
    observation: Observation = field(default_factory=Observation)


class NotObservable(Exception):
    """A host does not have what an observer reads; the message says what, and what would help."""


class Observer(ABC):
    """Reads one source or a part of it, for one period. Its module names it as OBSERVER.

    It is made anew for each period, when the host's CPUs, devices and files are found. That
    raises NotObservable where there is nothing to read on this host.

    It runs alongside polling loops, every second or faster: files are held open (RereadFile),
    unchanged lines are not parsed, and unchanged values are not written.
    """

    source: ClassVar[str]
    # Whether it may have to wait for what it reads: another process's answer.
    waits: ClassVar[bool] = False
    # What it reads of the source, where others read the rest.
    part: ClassVar[str] = ""
    # For people: what it reads, and from where.
    summary: ClassVar[str]
    # Every type it may tell.
    types: ClassVar[tuple[MetricType, ...]]

    @classmethod
    def name(cls) -> str:
        """The source, and the part where it has several: no two observers have the same."""
        return f"{cls.source} {cls.part}".strip()

    @abstractmethod
    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        """Find what is to be read."""

    @abstractmethod
    def read(self, readings: Readings) -> None:
        """Read it once, and tell what has changed.

        OSError and ValueError end this observer for the period, and the record says so;
        what may well go while a trial runs (a CPU, a device, a cgroup) is set `absent`.
        """
