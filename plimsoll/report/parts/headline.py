"""The first screen of every page: the answer, why it is not higher, and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.figures.table import ReportTable
from plimsoll.report.parts.finding_lines import FindingLine, findings_table, in_short
from plimsoll.search.evidence.trial_evidence import OfferedInterval
from plimsoll.text.counted import was
from plimsoll.text.units import format_ns, format_pps, format_ratio


@dataclass(frozen=True, slots=True)
class Headline:
    """What any kind of run begins its page with.

    `kicker` says what was looked for. The answer is `value` with its `unit`, or, where no figure
    answers, `statement`. `outcome` is the verdict's mark (pass, fail, invalid, none) and
    `outcome_words` what stands behind it. `facts` are (figure, what it is). `limit` says what
    limits the answer, by which cause, or why there is none; `trust` how far to believe it.
    `criteria` were measured in `criteria_of`. `warnings` come before everything, `exact` is
    folded: figures to all digits, and notes on how they were found.
    """

    kicker: str
    outcome: str
    outcome_words: str
    value: str = ""
    unit: str = ""
    statement: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    limit: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    criteria: tuple[FindingLine, ...] = ()
    criteria_of: str = ""
    warnings: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """For the browser's tab: "Load line 2.742 Mpps per direction"."""
        answer = " ".join(part for part in (self.value, self.unit) if part) or self.statement
        return f"{self.kicker}: {answer}" if answer not in ("", self.kicker) else self.kicker


def trials_trust(judged: int, invalid: int, reason: str = "") -> str:
    """How many of the judged trials the tester spoiled; `reason` is the most frequent one."""
    if not judged:
        return "No trial has been judged yet."
    trials = "the one judged trial was" if judged == 1 else f"all {judged} judged trials were"
    if not invalid:
        return f"{trials[0].upper()}{trials[1:]} valid."
    why = f", mostly by: {reason[0].lower()}{reason[1:]}" if reason else ""
    return (
        f"{invalid} of {judged} judged trials {was(invalid)} invalid: "
        f"the tester was disturbed{why}. They are ignored."
    )


Mark = Literal["ok", "warn", "fail", "none"]


@dataclass(frozen=True, slots=True)
class ChecklistLine:
    """One line of the list; `mark` is "none" where there is nothing to judge.

    `findings` lie below it, where it has any; where a page has other figures for it, `below`
    names them.
    """

    mark: Mark
    text: str
    below: str = ""
    findings: ReportTable | None = None


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
        f"{len(invalid)} of {len(judged)} judged trials "
        f"{was(len(invalid))} invalid: the tester, not the DUT, "
        "was at fault."
    )
    reasons = in_short(each for t in invalid for each in t.reasons)
    return ChecklistLine("warn", text, findings=findings_table(reasons, "invalid-trials"))


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


ABSENT_FRAMES = "absent-frames"


def offered_said(result: Result | None, proof: TrialRecord | None) -> tuple[str, ...]:
    """What the proof of a load line offered of what was intended; none in earlier records."""
    line = result.load_line if result else None
    if line is None or line.intended_pps_per_direction is None:
        return ()
    intended_pps, offered_pps = line.intended_pps_per_direction, line.pps_per_direction
    least = result.validation.least_offered if result and result.validation else None
    compared = compared_loads(intended_pps, offered_pps, least)
    said = f"The load line is the offered load. {compared}."
    return (said, *_absent(proof))


def compared_loads(
    intended_pps: float, offered_pps: float, least: OfferedInterval | None = None
) -> str:
    """ "Intended load 1.538 Mpps per direction; offered load 1.52 Mpps, 1.2 % lower" and so on."""
    text = (
        f"Intended load {format_pps(intended_pps)} per direction; offered load "
        f"{format_pps(offered_pps)}, {_difference(intended_pps, offered_pps)}"
    )
    if least is None:
        return text
    # No interval ends to the microsecond: 999.9 ms is a second.
    length_s, begin_s = round(least.end_s - least.begin_s, 2), round(least.begin_s, 1)
    worst = f"at worst {format_pps(least.pps)} over {length_s:g} s from second {begin_s:g} on"
    return f"{text}, {worst}"


def _difference(intended_pps: float, offered_pps: float) -> str:
    ratio = abs(offered_pps - intended_pps) / intended_pps if intended_pps else 0.0
    # A frame more or less in a trial is none.
    if ratio < 5e-6:
        return "the same"
    return f"{format_ratio(ratio)} {'lower' if offered_pps < intended_pps else 'higher'}"


def _absent(proof: TrialRecord | None) -> Iterator[str]:
    findings = proof.findings if proof else ()
    yield from (f"{each.text}." for each in findings if each.rule == ABSENT_FRAMES)
