"""How the host was tuned, by the audit at the run's start and by what happened in a trial."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from plimsoll.benchmark.tuning_during_run import JointFinding, joined
from plimsoll.record.audit_record import AuditRecord
from plimsoll.record.trial_record import TrialRecord
from plimsoll.report.charts.trial_series import trial_words
from plimsoll.trial.host_metrics import HostMetrics
from plimsoll.tune.audit.finding import VERDICTS, Verdict

_URGENT: tuple[Verdict, ...] = ("fail", "warn")


@dataclass(frozen=True, slots=True)
class TuningLine:
    """One check: what was found at the start, what happened, and the verdict of both.

    `remedy` are the steps, each with whether a root shell runs it; `read` says where what
    was found.
    """

    number: int
    title: str
    static: Verdict
    found: str
    happened: str
    joint: Verdict
    read: tuple[tuple[str, str], ...]
    remedy: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class TuningSection:
    """`counts` has joint verdicts and how many checks have each; `against` what was wanted.

    `trial` is that in which things happened, "" where there was none. All of it is empty in
    runs that were not audited.
    """

    counts: tuple[tuple[Verdict, int], ...]
    against: str
    trial: str
    urgent: tuple[TuningLine, ...]
    others: tuple[TuningLine, ...]


def tuning_section(
    audit: AuditRecord | None, metrics: HostMetrics | None, trial: TrialRecord | None
) -> TuningSection:
    """The section of a run, of which the report shows `trial`. Raises RecordError."""
    if audit is None:
        return TuningSection((), "", "", (), ())
    lines = joined(audit, metrics, trial)
    found = Counter(line.verdict for line in lines)
    return TuningSection(
        counts=tuple((verdict, found[verdict]) for verdict in VERDICTS if found[verdict]),
        against=_against(audit),
        trial=trial_words(trial) if trial else "",
        urgent=tuple(_line(each) for each in lines if each.verdict in _URGENT),
        others=tuple(_line(each) for each in lines if each.verdict not in _URGENT),
    )


def _line(joint: JointFinding) -> TuningLine:
    static = joint.static
    return TuningLine(
        number=static.number,
        title=static.title,
        static=static.verdict,
        found=static.text,
        happened=joint.happened.text if joint.happened else "",
        joint=joint.verdict,
        read=tuple((each.where, each.what) for each in static.read),
        remedy=tuple((step.text, step.kind == "command") for step in static.steps),
    )


def _against(audit: AuditRecord) -> str:
    where = audit.host or "this host"
    told = audit.assumed or f"judged by the intent {audit.intent} that the experiment names"
    return f"{where}, kernel {audit.kernel or 'unknown'}: {told}."
