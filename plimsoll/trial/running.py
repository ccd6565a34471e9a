"""One trial, run: the generator sends, the DUT's counters are read on both sides of it."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.dut.lab import Lab, LabPorts
from plimsoll.generator.interface import Generator, Interval, TrialPlan
from plimsoll.trial.outcome import Outcome


def run_trial(
    generator: Generator,
    lab: Lab,
    ports: LabPorts,
    plan: TrialPlan,
    *,
    load_pps: float,
    watch: Callable[[Interval], bool],
) -> Outcome:
    """Run `plan`, which loads each direction with `load_pps`, and say what came of it.

    `watch` sees each interval and stops the trial with True. Raises LabDied when the
    DUT ended meanwhile, and whatever the generator raises when it did.
    """
    lab.check()
    before = lab.counters()
    report = generator.trial(plan, watch)
    lab.check()
    return Outcome(
        plan=plan,
        report=report,
        load_pps=load_pps,
        drained_by=ports.drained_by,
        queue_frames=ports.queue_frames,
        paths=ports.paths,
        dut_before=before,
        dut_after=lab.counters(),
    )
