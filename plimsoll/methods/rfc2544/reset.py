"""Reset, section 26.6: how long the stream is interrupted when the DUT is reset."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.dut.lab import LabModel
from plimsoll.errors import MachineError
from plimsoll.generator.interface import Interval
from plimsoll.host.processes.child import Child
from plimsoll.methods.rfc2544.result import ResetStatement, ThroughputRow
from plimsoll.methods.rfc2544.settings import ResetSettings
from plimsoll.methods.rfc2544.subject import TestSubject
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

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
