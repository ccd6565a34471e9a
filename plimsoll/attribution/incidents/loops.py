"""The threads that forward: those of the tester, and those of the DUT on hosts that are watched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from plimsoll.attribution.incidents.incident import Explanation
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import HostCpu

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


_NAME_END = " (the DUT's loop)"


def named_as_dut(cause: Cause, loops: Iterable[PollingLoop]) -> Cause | None:
    """The cause by its process's name; None where it is no loop of the DUT on a tester's CPU."""
    if cause.kind != "task" or cause.owner != "tester":
        return None
    for loop in loops:
        if loop.owner == "dut" and (loop.host, loop.thread_id) == (cause.host, cause.pid):
            return cause.model_copy(update={"name": f"{loop.process}{_NAME_END}"})
    return None


def is_dut_on_tester_cpu(name: str, owner: LoopOwner | None) -> bool:
    """Whether a cause of that name, which took a CPU of `owner`, is such a loop."""
    return owner == "tester" and name.endswith(_NAME_END)


def on_tester_cpus_ns(explanations: Iterable[Explanation]) -> dict[int, int]:
    """How long loops of the DUT had CPUs of the tester's, as far as was seen, by their threads."""
    visits: dict[tuple[int, int | None], int] = {}
    for cause in (cause for each in explanations for cause in each.causes):
        if cause.pid is not None and is_dut_on_tester_cpu(cause.name, cause.owner):
            visit = (cause.pid, cause.begin_tsc)
            visits[visit] = max(visits.get(visit, 0), cause.length_ns or 0)
    found: dict[int, int] = {}
    for (thread, _), length_ns in visits.items():
        found[thread] = found.get(thread, 0) + length_ns
    return found
