"""Whether, over a whole run, the DUT counted what the engine counted."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.results.result import DutAgreement
from plimsoll.record.trials.counter_record import DUT_COUNTERS_RULE
from plimsoll.record.trials.trial_record import TrialRecord


def dut_agreement_of(trials: Sequence[TrialRecord]) -> DutAgreement | None:
    """Over the judged trials; None where the DUT has no counters to compare with."""
    compared = [
        [finding for finding in trial.findings if finding.rule == DUT_COUNTERS_RULE]
        for trial in trials
    ]
    compared = [findings for findings in compared if findings]
    if not compared:
        return None
    differences = tuple(
        finding.text for findings in compared for finding in findings if finding.outcome != "ok"
    )
    agreeing = sum(all(finding.outcome == "ok" for finding in findings) for findings in compared)
    return DutAgreement(
        trials_compared=len(compared), trials_agreeing=agreeing, differences=differences
    )
