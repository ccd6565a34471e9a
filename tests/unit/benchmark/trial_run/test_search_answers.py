"""Which invalid trials show the tester's ceiling, and which a fault that may pass."""

from typing import Any

import pytest

from plimsoll.benchmark.trial_run.search_trial import search_answer
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import GoalVerdict, TrialRecord
from plimsoll.search.strategy.ask import ONLY_GOAL
from tests.unit.record.trial_parts import record
from tests.unit.record.trials.evidence import no_loss

LIMIT = 0.05


def _trial(
    offered_pps: float | None,
    *,
    stalled_s: float = 0.0,
    longest_s: float = 0.0,
    rule: str = "offered-rate",
    phase: TrialPhase = "search",
) -> TrialRecord:
    """Ten seconds at 1000 pps, invalid by one rule."""
    finding = {
        "rule": rule,
        "subject": "load",
        "value": 1 - (offered_pps or 0) / 1000,
        "limit": LIMIT,
        "unit": "ratio",
        "outcome": "invalid",
        "text": "short",
    }
    evidence = no_loss(sending_s=10.0, intervals=10, offered_pps=offered_pps)
    plain = record(phase=phase, load_pps=1000.0, verdict="invalid")
    (worker,) = plain.workers
    stalls = {"stalled_ns": round(stalled_s * 1e9), "worst_stall_ns": round(longest_s * 1e9)}
    changes: dict[str, Any] = {
        "sending_s": 10.0,
        "evidence": evidence,
        "findings": (FindingRecord.model_validate(finding),),
        "goals": {ONLY_GOAL: GoalVerdict(verdict="invalid", rules=(rule,))},
        "workers": (worker.model_copy(update=stalls),),
    }
    return plain.model_copy(update=changes)


@pytest.mark.parametrize(
    ("trial", "at_most_pps"),
    [
        # 20 % short without a stall; and with stalls all along, which is how the tester is.
        (_trial(800.0), 800.0),
        (_trial(800.0, stalled_s=2.0, longest_s=0.004), 800.0),
        # One stall of a second and a half is most of it.
        (_trial(800.0, stalled_s=1.5, longest_s=1.5), None),
        # 7 % short: far from twice the limit, but no stall explains it; then one does.
        (_trial(930.0), 930.0),
        (_trial(930.0, stalled_s=0.5, longest_s=0.004), None),
        # Invalid for another reason, or nothing is known of the rate.
        (_trial(800.0, rule="stall"), None),
        (_trial(None), None),
        # A burst has no rate to keep.
        (_trial(800.0, phase="burst"), None),
    ],
)
def test_far_short_is_a_ceiling(trial: TrialRecord, at_most_pps: float | None) -> None:
    assert search_answer(trial).offered_at_most_pps == at_most_pps


def test_what_absences_explain_of_a_validation_is_no_ceiling() -> None:
    # Offered 4 % short, of which the validation's own finding left 0.7 % unexplained: of a
    # limit of 0.5 % that is no ceiling. Of 3 % it is, and the search goes down by so much.
    def validation(unexplained: float) -> TrialRecord:
        trial = _trial(960.0, stalled_s=0.5, longest_s=0.004, phase="validation")
        changes = {"value": unexplained, "limit": 0.005}
        findings = tuple(each.model_copy(update=changes) for each in trial.findings)
        return trial.model_copy(update={"findings": findings})

    assert search_answer(validation(0.007)).offered_at_most_pps is None
    assert search_answer(validation(0.03)).offered_at_most_pps == pytest.approx(970.0)
