"""Why to believe an answer, as a short list of lines, each a check with its figures below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.parts.finding_lines import FindingLine, in_short
from plimsoll.text.units import format_ns

Mark = Literal["ok", "warn", "fail", "none"]


@dataclass(frozen=True, slots=True)
class ChecklistLine:
    """One line of the list; `mark` is "none" where there is nothing to judge.

    `findings` lie below it; where a page has other figures for it, `below` names them.
    """

    mark: Mark
    text: str
    below: str = ""
    findings: tuple[FindingLine, ...] = ()


def trial_checks(trials: Sequence[TrialRecord]) -> tuple[ChecklistLine, ...]:
    """What can be said of all trials of any run together."""
    judged = [trial for trial in trials if trial.verdict != "none"]
    if not judged:
        return (ChecklistLine("none", "No trial has been judged yet."),)
    return (_validity(judged), _stalls(trials))


def _validity(judged: Sequence[TrialRecord]) -> ChecklistLine:
    invalid = [trial for trial in judged if trial.verdict == "invalid"]
    if not invalid:
        return ChecklistLine("ok", f"All {len(judged)} judged trials were valid.")
    text = (
        f"{len(invalid)} of {len(judged)} judged trials were invalid: the tester, not the DUT, "
        "was at fault."
    )
    return ChecklistLine(
        "warn", text, findings=in_short(each for t in invalid for each in t.reasons)
    )


def _stalls(trials: Sequence[TrialRecord]) -> ChecklistLine:
    workers = [worker for trial in trials for worker in trial.workers]
    stalls = sum(worker.stalls for worker in workers)
    if not stalls:
        return ChecklistLine("ok", "The tester's polling loops never stalled.")
    worst_ns = max(worker.worst_stall_ns for worker in workers)
    text = (
        f"The tester's polling loops stalled {stalls:,} times in all trials, at most "
        f"{format_ns(worst_ns)}; the findings of each trial say what that cost."
    )
    return ChecklistLine("none", text)
