"""One trial, run: the generator sends, the DUT's counters are read on both sides of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from plimsoll.dut.lab import Lab, LabPorts
from plimsoll.dut.sight import start_observation
from plimsoll.errors import PlimsollError
from plimsoll.generator.interface import (
    ClockReading,
    Generator,
    Interval,
    ResolvingGenerator,
    TrialPlan,
    TrialReport,
)
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.record.trials.clock_fit import ClockStep
from plimsoll.trial.outcome.background_streams import NO_BACKGROUND, BackgroundStreams
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.series import TrialSeries

_NS_PER_S = 1e9
# The two clocks are read one after the other, and a starved process may be away in between.
_MIN_STEP_S = 0.02
_USUAL_STEP_S = 0.25
# Of clock readings, which are minutes apart: NTP slews the wall clock against the raw one.
_SLEWED = 1e-3


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
    end_sight = start_observation(lab)
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


# The wall-clock times of one trial, without the steps that its clock made during it.
#
# A generator stamps each interval with its host's wall clock, and says by a clock that is never
# set how long the interval was. Where the two disagree, the wall clock was set. The trial's times
# then go on as if it had not been: its rows, histograms and spikes stay in order and do not lie
# over each other, and the record says that the clock was set.
class TrialClock:
    """Takes each interval as it comes, then the report."""

    def __init__(self) -> None:
        self._last: Interval | None = None
        # When the first frame was sent, by the first interval.
        self._begin_unix_ns = 0
        self._stepped_ns = 0
        self._steps: list[ClockStep] = []
        self._host_ns = wall_minus_monotonic_ns()

    @property
    def steps(self) -> tuple[ClockStep, ...]:
        """Those seen so far."""
        return tuple(self._steps)

    def interval(self, interval: Interval) -> Interval:
        """The interval with its times as if the clock had never been set."""
        length_s = interval.end_s - interval.begin_s
        if self._last is None:
            self._begin_unix_ns = interval.end_unix_ns - round(interval.end_s * _NS_PER_S)
        else:
            passed_ns = interval.end_unix_ns - self._last.end_unix_ns
            step_ns = passed_ns - round((interval.end_s - self._last.end_s) * _NS_PER_S)
            if abs(step_ns) > _allowed_ns(length_s):
                self._step(interval.end_s, step_ns)
        self._last = interval
        return replace(interval, end_unix_ns=interval.end_unix_ns - self._stepped_ns)

    def report(self, report: TrialReport) -> TrialReport:
        """The report with its times by the clock of the intervals."""
        unseen_ns = wall_minus_monotonic_ns() - self._host_ns
        begin_unix_ns = report.begin_unix_ns
        stepped = abs(unseen_ns) > _USUAL_STEP_S * _NS_PER_S
        # What the intervals have seen is recorded already, and may be another host's clock.
        if stepped and not self._steps and self._last is not None:
            # No two intervals tell of it: it was before the first ended, or after the last.
            moved_ns = self._begin_unix_ns - begin_unix_ns
            early = abs(moved_ns - unseen_ns) < abs(moved_ns)
            self._step(0.0 if early else self._last.end_s, unseen_ns)
            begin_unix_ns = self._begin_unix_ns if early else begin_unix_ns
        return replace(report, begin_unix_ns=begin_unix_ns, clock=_unstepped(report.clock))

    def _step(self, at_s: float, by_ns: int) -> None:
        self._stepped_ns += by_ns
        self._steps.append(ClockStep(at_s=at_s, by_s=by_ns / _NS_PER_S))


def _allowed_ns(interval_s: float) -> float:
    return max(_MIN_STEP_S, min(_USUAL_STEP_S, interval_s / 4)) * _NS_PER_S


def _unstepped(readings: Sequence[ClockReading]) -> tuple[ClockReading, ...]:
    """Readings of the generator's clocks, the wall clock's as if it had never been set."""
    kept: list[ClockReading] = []
    stepped_ns = 0
    for before, reading in zip((None, *readings), readings, strict=False):
        if before is not None:
            raw_ns = reading.raw_ns - before.raw_ns
            step_ns = reading.unix_ns - before.unix_ns - raw_ns
            allowed_ns = _USUAL_STEP_S * _NS_PER_S + _SLEWED * abs(raw_ns)
            stepped_ns += step_ns if abs(step_ns) > allowed_ns else 0
        kept.append(replace(reading, unix_ns=reading.unix_ns - stepped_ns))
    return tuple(kept)
