"""A loop of the DUT on a CPU that the tester polls: the test bed's fault, whatever was measured."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.record.trials.schedule_record import PollingThreadRecord, ScheduleRecord
from plimsoll.text.units import format_ns
from plimsoll.trial.outcome.finding import Finding

SHARED_CPU_RULE = "dut-on-tester-cpu"
_TESTER = "tester"
# Less is the kernel moving a thread about before it polls.
_LEAST_NS = 500_000


def shared_cpu(schedule: ScheduleRecord | None, seen_ns: Mapping[int, int]) -> list[Finding]:
    """A finding for each loop of the DUT that had a CPU of the tester's; it spoils the trial.

    `seen_ns` is how long the kernel's trace saw threads on such CPUs, by their ids: at least.
    """
    if schedule is None:
        return []
    polled = {each.cpu for each in schedule.threads if each.process == _TESTER}
    found = (
        _finding(each, polled, seen_ns.get(each.tid, 0))
        for each in schedule.threads
        if each.process != _TESTER
    )
    return [each for each in found if each is not None]


def _finding(loop: PollingThreadRecord, polled: set[int], seen_ns: int) -> Finding | None:
    cpus = sorted(polled & {loop.cpu, loop.last_cpu})
    # On one CPU from begin to end all of its time was there; else what was seen.
    stayed = loop.cpu in polled and loop.last_cpu in (loop.cpu, None)
    ran_ns = loop.run_ns if stayed else seen_ns
    if ran_ns < _LEAST_NS and not (cpus and loop.run_ns >= _LEAST_NS):
        return None
    place = f"CPU {', '.join(map(str, cpus))}, which" if cpus else "a CPU that"
    length = f" for {'' if stayed else 'at least '}{format_ns(ran_ns)}" if ran_ns else ""
    return Finding(
        rule=SHARED_CPU_RULE,
        subject=f"{loop.process}, thread {loop.tid}",
        value=ran_ns,
        limit=0,
        unit="ns",
        outcome="invalid",
        text=f"the DUT's loop {loop.tid} of {loop.process} ran{length} on {place} the tester polls",
        spoils=True,
    )
