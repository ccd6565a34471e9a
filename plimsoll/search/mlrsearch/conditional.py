"""Conditional throughput: RFC 9971's section on it, and its appendix B."""

from __future__ import annotations

import math
from collections.abc import Iterable

from plimsoll.search.mlrsearch.goal import Goal
from plimsoll.search.mlrsearch.trial_result import TrialResult


def conditional_throughput(goal: Goal, load_pps: float, trials: Iterable[TrialResult]) -> float:
    """The forwarding rate in pps that the load's full-length trials reach but for the exceed ratio.

    A quantile by duration, the least lossy trials first; what is missing of the duration
    sum counts as if all of it were lost. At a lower bound the trial that decides is always
    a low-loss one. A trial that failed by something other than loss comes after all that
    passed, or it could be the one that decides.
    """
    full = [trial for trial in trials if trial.duration_s >= goal.final_duration_s]
    full.sort(key=lambda trial: (trial.high_loss, trial.loss_ratio))
    whole_s = max(goal.duration_sum_s, math.fsum(trial.duration_s for trial in full))
    remaining_s = whole_s * (1 - goal.exceed_ratio)
    for trial in full:
        remaining_s -= trial.duration_s
        if remaining_s <= 0:
            return load_pps * (1 - trial.loss_ratio)
    return 0.0
