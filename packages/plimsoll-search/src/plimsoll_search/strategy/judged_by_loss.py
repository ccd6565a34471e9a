"""Verdicts for whoever has no other rule than how much may be lost."""

from __future__ import annotations

from ..evidence.trial_evidence import TrialEvidence
from .ask import JudgedVerdict, Told
from .settings import LossRatios


def judged_by_loss(evidence: TrialEvidence, loss_ratios: LossRatios) -> Told:
    """What to tell of a valid trial: it passes for each goal that allows what was lost.

    A goal whose share is None allows no loss.
    """
    verdicts: dict[str, JudgedVerdict] = {
        goal: "pass" if evidence.loss_ratio <= (allowed or 0.0) else "fail"
        for goal, allowed in loss_ratios.items()
    }
    failed = {goal: ("loss-ratio",) for goal, verdict in verdicts.items() if verdict == "fail"}
    return Told(verdicts, evidence, failed)
