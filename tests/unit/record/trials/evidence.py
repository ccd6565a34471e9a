"""Evidence of trials in which nothing was lost and no latency was measured."""

from typing import Any

from plimsoll.search.evidence.trial_evidence import TrialEvidence


def no_loss(**figures: Any) -> TrialEvidence:
    """Of one frame in one second, but for the `figures`."""
    nothing = {
        "sending_s": 1.0,
        "intervals": 1,
        "offered": 1,
        "lost": 0,
        "loss_ratio": 0.0,
        "forwarded_pps": 0.0,
        "first_loss_s": None,
        "lossy_intervals": 0,
        "losses": (),
        "min_ns": None,
        "p50_ns": None,
        "p99_ns": None,
        "max_ns": None,
        "latency_growth": None,
        "peaks": (),
    }
    return TrialEvidence.model_validate(nothing | figures)
