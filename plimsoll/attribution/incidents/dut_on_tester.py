"""A loop of the DUT that ran on a CPU which the tester polls: the test bed's fault."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.attribution.incidents.loops import LoopOwner, PollingLoop
from plimsoll.record.causes.causes_record import Cause

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
