"""System recovery and reset, sections 26.5 and 26.6: how long a DUT goes on losing frames."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.dut.lab import LabModel
from plimsoll.errors import MachineError
from plimsoll.generator.interface import Interval
from plimsoll.host.processes.child import Child
from plimsoll.methods.rfc2544.result import RecoveryRow, ResetStatement, ThroughputRow
from plimsoll.methods.rfc2544.settings import RecoverySettings, ResetSettings
from plimsoll.methods.rfc2544.subject import TestSubject, spread_of
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

_OVERLOAD = 1.1
# "Reduce the frame rate to 50% of the above rate."
_REDUCED = 0.5
# The finest that intervals may be: the time of a lost frame is known to one of them.
_INTERVAL_S = 0.1


def measure_recovery(
    steps: Steps, subject: TestSubject, settings: RecoverySettings, throughput: ThroughputRow
) -> RecoveryRow:
    """Overload, halve the rate, and time the last frame lost after that; several times."""
    if throughput.pps is None:
        why = f"no throughput is known: {throughput.reason}"
        return _row(subject, None, [], why, throughput.verdict)
    overload_pps = min(_OVERLOAD * throughput.pps, max(throughput.pps, subject.reach_pps))
    experiment = _sampled_often(subject.experiment)
    trials: list[TrialRecord] = []
    for number in range(1, settings.repeats + 1):
        request = _request(subject, settings, overload_pps, number)
        trials.append(steps.valid(experiment, request))
        if steps.hopeless:
            break
    valid = [trial for trial in trials if trial.verdict != "invalid"]
    spoiled = [trial for trial in trials if trial.verdict == "invalid"]
    reason = "; ".join(each.text for each in spoiled[-1].reasons) if spoiled else None
    verdict: Verdict = "none" if valid else "invalid"
    return _row(subject, throughput.pps, valid, reason, verdict, overload_pps=overload_pps)


def falling_streams(
    load: Sequence[StreamPlan], overload_s: float
) -> tuple[tuple[StreamPlan, ...], float]:
    """The same load, of which half ends after `overload_s`, and when exactly, in s.

    Two streams of half the rate each make up every stream; one has no more frames then.
    """
    halves = [replace(plan, rate_pps=_REDUCED * (plan.rate_pps or 0.0)) for plan in load]
    first = 1 + max(plan.stream for plan in load)
    ending = [
        replace(
            plan,
            stream=first + number,
            name=f"{plan.name} overload",
            frame_count=max(1, round((plan.rate_pps or 0.0) * overload_s)),
        )
        for number, plan in enumerate(halves)
    ]
    changes = [(plan.frame_count or 0) / (plan.rate_pps or 1.0) for plan in ending]
    return (*halves, *ending), max(changes)


@dataclass(frozen=True, slots=True)
class _Losses:
    """An interval and the frames lost in it."""

    end_s: float
    length_s: float
    frames: int


def recovery_of(outcome: Outcome, change_s: float) -> dict[str, float | None]:
    """What an outcome shows of a rate that was reduced at `change_s`.

    `recovery_s` is null where frames were still lost when the trial ended.
    """
    losses = list(_losses(outcome))
    after = [loss for loss in losses if loss.end_s > change_s]
    lossy = [loss for loss in after if loss.frames > 0]
    seen = sum(loss.frames for loss in losses)
    # Frames that leave no gap because none came after them were the very last.
    unseen = sum(outcome.unexcused_losses().values()) - seen
    recovered = unseen <= 0 and (not lossy or lossy[-1] is not after[-1])
    last_s = lossy[-1].end_s - change_s if lossy else 0.0
    return {
        "recovery_s": last_s if recovered else None,
        "resolution_s": max((loss.length_s for loss in after), default=0.0),
        "lost_overloaded": float(sum(loss.frames for loss in losses if loss.end_s <= change_s)),
        "lost_afterwards": float(sum(loss.frames for loss in lossy) + max(0, unseen)),
    }


def _losses(outcome: Outcome) -> Iterator[_Losses]:
    """Of each interval that sent."""
    series = outcome.series
    for place, sending in enumerate(series.sending):
        frames = sum(stream.unexcused[place] for stream in series.streams.values())
        if sending:
            begin_s, end_s = series.begin_s[place], series.end_s[place]
            yield _Losses(end_s, end_s - begin_s, frames)


def _request(
    subject: TestSubject, settings: RecoverySettings, overload_pps: float, number: int
) -> TrialRequest:
    streams, change_s = falling_streams(subject.streams(overload_pps), settings.overload_s)

    def observe(outcome: Outcome) -> Mapping[str, float | None]:
        return recovery_of(outcome, change_s)

    return TrialRequest(
        "recovery",
        overload_pps,
        change_s + settings.watch_s,
        streams,
        early_abort=False,
        repetition=number,
        step=f"recovery/{subject.label}/{number}",
        observe=observe,
    )


def _sampled_often(experiment: Experiment) -> Experiment:
    trial = experiment.trial.model_copy(update={"interval": _INTERVAL_S})
    return experiment.model_copy(update={"trial": trial})


def _row(
    subject: TestSubject,
    throughput_pps: float | None,
    trials: Sequence[TrialRecord],
    reason: str | None,
    verdict: Verdict | None,
    *,
    overload_pps: float | None = None,
) -> RecoveryRow:
    # A DUT that was not overloaded has nothing to recover from.
    overloaded = [trial for trial in trials if _was_overloaded(trial)]
    times = [trial.observed["recovery_s"] for trial in overloaded]
    return RecoveryRow(
        subject=subject.record,
        throughput_pps=throughput_pps,
        overload_pps=overload_pps,
        reduced_pps=None if overload_pps is None else _REDUCED * overload_pps,
        recovery_s=spread_of([time for time in times if time is not None]),
        resolution_s=max((trial.observed["resolution_s"] or 0.0 for trial in trials), default=None),
        not_recovered=sum(time is None for time in times),
        never_overloaded=len(trials) - len(overloaded),
        reason=reason,
        verdict=verdict,
    )


def _was_overloaded(trial: TrialRecord) -> bool:
    """Whether it lost anything, be it only in the interval of the change or after it."""
    return bool(trial.observed["lost_overloaded"] or trial.observed["lost_afterwards"])


_LOG_NAME = "reset.log"
_PATIENCE_S = 5.0
_NO_COMMAND = (
    "not available: no command is given that resets this DUT (--reset-command, a program with "
    "its arguments)"
)


def measure_reset(
    steps: Steps, subject: TestSubject, settings: ResetSettings, throughput: ThroughputRow
) -> ResetStatement:
    """Run the command in the midst of a stream at the throughput, and count what is lost."""
    problem = why_not(subject.experiment.lab, settings)
    if problem is None and throughput.pps is None:
        problem = f"no throughput is known: {throughput.reason}"
    if problem is not None or throughput.pps is None:
        return _statement(
            subject, settings, throughput.pps, reason=problem, verdict=throughput.verdict
        )
    resetting = Resetting(settings, steps.session.scratch / _LOG_NAME)
    request = TrialRequest(
        "reset",
        throughput.pps,
        settings.before_s + settings.watch_s,
        subject.streams(throughput.pps),
        early_abort=False,
        step=f"reset/{subject.label}",
        observe=outage_of,
        overseer=resetting,
    )
    try:
        trial = steps.valid(subject.experiment, request)
    finally:
        resetting.end()
    return _statement_of(subject, settings, trial)


def why_not(lab: LabModel, settings: ResetSettings) -> str | None:
    """Why a reset cannot be tested on such a lab; None where it can."""
    if lab.cannot_reset is not None:
        return f"not available on this lab: {lab.cannot_reset}"
    return None if settings.command else _NO_COMMAND


def outage_of(outcome: Outcome) -> dict[str, float | None]:
    """The longer of the directions' outages: frames lost ÷ the rate at which they were offered.

    RFC 6201's way, which needs no clock in the DUT. Null where the last interval that sent
    brought nothing back.
    """
    lost: Counter[tuple[int, int]] = Counter()
    rates: dict[tuple[int, int], float] = {}
    unexcused = outcome.unexcused_losses()
    for plan in outcome.plan.streams:
        path = (plan.tx_port, plan.rx_port)
        lost[path] += unexcused[plan.stream]
        rates[path] = rates.get(path, 0.0) + (plan.rate_pps or 0.0)
    outages = [lost[path] / rates[path] for path in rates if rates[path] > 0]
    return {
        "outage_s": max(outages, default=0.0) if _came_back(outcome) else None,
        "lost": float(sum(lost.values())),
    }


class Resetting:
    """The overseer that starts the command once the stream has run long enough."""

    def __init__(self, settings: ResetSettings, log: Path) -> None:
        self._settings = settings
        self._log = log
        self._child: Child | None = None
        self._due = True

    def begin(self, start: StartingTrial) -> None:
        """Every trial has a reset of its own."""
        self.end()
        self._due = True

    def interval(self, interval: Interval) -> bool:
        """Start the command in time. Raises MachineError where it does not start."""
        if self._due and interval.end_s >= self._settings.before_s:
            self._due = False
            self._child = Child.start(self._settings.command, log=self._log, environment=os.environ)
        return False

    def ended(self, outcome: Outcome) -> tuple[Outcome, list[Finding]]:
        """The outcome as it is."""
        return outcome, []

    def end(self) -> None:
        """End the command where it still runs."""
        if self._child is not None:
            with suppress(MachineError):
                self._child.end(_PATIENCE_S)
            self._child = None


def _came_back(outcome: Outcome) -> bool:
    series = outcome.series
    last = max((place for place, sending in enumerate(series.sending) if sending), default=None)
    return last is not None and all(column.received[last] > 0 for column in series.streams.values())


def _statement_of(
    subject: TestSubject, settings: ResetSettings, trial: TrialRecord
) -> ResetStatement:
    observed: Mapping[str, float | None] = trial.observed
    lost, outage_s = observed.get("lost"), observed.get("outage_s")
    verdict: Verdict = "none"
    if trial.verdict == "invalid":
        verdict = "invalid"
        reason = "; ".join(each.text for each in trial.reasons)
    elif outage_s is None:
        verdict = "fail"
        reason = f"the stream had not come back {settings.watch_s:g} s after the reset"
    elif lost == 0:
        reason = "no frame was lost: the command did not interrupt the stream"
    else:
        return _statement(subject, settings, trial.load_pps, outage_s=outage_s, lost=lost)
    return _statement(subject, settings, trial.load_pps, lost=lost, reason=reason, verdict=verdict)


def _statement(
    subject: TestSubject,
    settings: ResetSettings,
    load_pps: float | None,
    *,
    outage_s: float | None = None,
    lost: float | None = None,
    reason: str | None = None,
    verdict: Verdict | None = "none",
) -> ResetStatement:
    return ResetStatement(
        kind=" ".join(settings.command) or "none",
        subject=subject.record,
        load_pps=load_pps,
        outage_s=outage_s,
        lost=None if lost is None else round(lost),
        reason=reason,
        verdict=verdict,
    )
