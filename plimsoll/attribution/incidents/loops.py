"""The threads that forward: those of the tester, and those of the DUT on hosts that are watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.search.evidence.host_cpu import HostCpu

LoopOwner = Literal["tester", "dut"]
_MARK = " (the experiment's noise: "


@dataclass(frozen=True, slots=True)
class PollingLoop:
    """One polling thread, alone on its CPU. `process` is its program ("dpdk-testpmd").

    `host` is the name of its host; None is the tester's own, as everywhere here.

    One that `sleeps` polls only while frames come, and is absent only while it could run.
    `streams` are the streams whose frames it handles; empty where that is not known, and
    then it may have handled any.
    """

    owner: LoopOwner
    process: str
    cpu: int
    thread_id: int
    sleeps: bool = False
    streams: tuple[str, ...] = ()
    host: str | None = None

    @property
    def place(self) -> HostCpu:
        """The CPU on which it polls, and of which host."""
        return HostCpu(self.host, self.cpu)

    def handles(self, stream: str) -> bool:
        """Whether frames of the stream may have passed through this loop."""
        return not self.streams or stream in self.streams


# Tasks of the experiment's own noise, by the names that causes have.
def noise_name(comm: str, neighbour: str) -> str:
    """How a task of a neighbour is called: "stress-ng (the experiment's noise: …)"."""
    return f"{comm}{_MARK}{neighbour})"


def is_noise(name: str) -> bool:
    """Whether a task of this name is one."""
    return _MARK in name
