"""One trial, run: the generator sends, the DUT's counters are read on both sides of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from plimsoll.dut.lab import Lab, LabPorts
from plimsoll.dut.sight import begin_sight
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import Generator, Interval, ResolvingGenerator, TrialPlan
from plimsoll.trial.outcome.background_streams import NO_BACKGROUND, BackgroundStreams
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import TrialSeries
from plimsoll.trial.running.trial_clock import TrialClock


def run_trial(
    generator: Generator,
    lab: Lab,
    ports: LabPorts,
    plan: TrialPlan,
    *,
    watch: Callable[[Interval], bool],
    background: BackgroundStreams = NO_BACKGROUND,
) -> Outcome:
    """Run `plan`, and say what came of it.

    The `background` streams are sent as well; neither `watch` nor the report sees them.
    `watch` sees each interval and stops the trial with True; a lost link does, too. Raises
    LabDied when the DUT ended before the trial, LinkGone when a port's interface went, and
    whatever the generator raises of itself.
    """
    lab.check()
    everything = background.added_to(plan)
    if isinstance(generator, ResolvingGenerator):
        everything = generator.resolve(everything)
    links_lost = lab.watch_links()
    series = TrialSeries(plan, ports.drained_by, ports.queue_frames)
    before = lab.counters()
    end_sight = begin_sight(lab)
    clock = TrialClock()

    def watch_all(whole: Interval) -> bool:
        interval = background.left_out_of(clock.interval(whole))
        series.add(interval)
        settled = watch(interval)
        lab.check()
        return bool(links_lost()) or settled

    try:
        whole_report = generator.trial(everything, watch_all)
    except PlimsollError:
        # What the generator died of may be the lab; then that is the news.
        lab.check()
        raise
    lab.check()
    report, background = background.split(clock.report(whole_report))
    return Outcome(
        plan=replace(plan, resolved=everything.resolved),
        report=report,
        series=series,
        drained_by=ports.drained_by,
        queue_frames=ports.queue_frames,
        paths=ports.paths,
        dut_before=before,
        dut_after=lab.counters(),
        dut_sight=end_sight(),
        links_lost=links_lost(),
        background=background,
        clock_steps=clock.steps,
    )
