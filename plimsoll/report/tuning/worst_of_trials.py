"""What the audit of a host found, joined with what happened in the worst of several trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from plimsoll.record.run.audit_record import AuditFinding, AuditRecord
from plimsoll.report.data.host_figures import ObservedTrial
from plimsoll.report.tuning.tuning_during_run import Happening, joined
from plimsoll.tune.audit.finding import VERDICTS, CheckVerdict

_WRONG: frozenset[CheckVerdict] = frozenset({"fail", "warn"})


@dataclass(frozen=True, slots=True)
class WorstFinding:
    """A check's finding, what happened in one trial (None: not known), and both's verdict.

    `answers` names the trial where others differ.
    """

    static: AuditFinding
    happened: Happening | None
    verdict: CheckVerdict
    answers: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it is not as expected."""
        return self.verdict in _WRONG

    @property
    def did_harm(self) -> bool:
        """Whether it is not as expected, and counters show it while frames were sent."""
        return self.wrong and self.happened is not None and self.happened.verdict in _WRONG


def worst_of_trials(
    audit: AuditRecord, trials: Sequence[ObservedTrial]
) -> tuple[WorstFinding, ...]:
    """Every check once: the worst verdict first, and of those what did harm.

    Only what happened on the audited host counts. Raises RecordError for metrics that are
    damaged.
    """
    by_check: dict[tuple[int, str], list[WorstFinding]] = {}
    for found in _of_all(audit, trials):
        by_check.setdefault((found.static.number, found.static.name), []).append(found)
    return tuple(sorted(map(_worst, by_check.values()), key=_order))


def _of_all(audit: AuditRecord, trials: Sequence[ObservedTrial]) -> Iterable[WorstFinding]:
    if not trials:
        for each in joined(audit, None, None):
            yield WorstFinding(each.static, each.happened, each.verdict)
    for trial in trials:
        for each in joined(audit, trial.metrics, trial.trial):
            yield WorstFinding(each.static, each.happened, each.verdict, trial.answers)


def _worst(of_check: Sequence[WorstFinding]) -> WorstFinding:
    """The first of the worst, unnamed where all trials agree."""
    worst = min(of_check, key=_badness)
    texts = {each.happened.text if each.happened else "" for each in of_check}
    return worst if len(texts) > 1 else replace(worst, answers="")


def _badness(each: WorstFinding) -> tuple[int, int]:
    """The lower the worse; a trial without observations is named last."""
    seen = VERDICTS.index(each.happened.verdict) if each.happened else len(VERDICTS)
    return VERDICTS.index(each.verdict), seen


def _order(each: WorstFinding) -> tuple[int, bool, int]:
    return VERDICTS.index(each.verdict), not each.did_harm, each.static.number
