"""Conditional throughput: RFC 9971's section on it, and its appendix B."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .goal import Goal
from .trial_result import TrialResult


def conditional_throughput(goal: Goal, load_pps: float, trials: Iterable[TrialResult]) -> float:
    """The forwarding rate in pps that the load's full-length trials reach but for the exceed ratio.

    A quantile by duration, the least lossy trials first; what is missing of the duration
    sum counts as if all of it were lost. At a lower bound the trial that decides is always
    a low-loss one. A trial that failed by something other than loss comes after all that
    passed, or it could be the one that decides.
    """
    full = [trial for trial in trials if trial.duration_s >= goal.final_duration_s]
    full.sort(key=lambda trial: (trial.high_loss, trial.loss_ratio))
    lengths_s = [trial.duration_s for trial in full]
    needed_s = max(goal.duration_sum_s, math.fsum(lengths_s)) * (1 - goal.exceed_ratio)
    for count, trial in enumerate(full, 1):
        # Summed as the whole was: rounding must not leave a rest of what is all there.
        if math.fsum(lengths_s[:count]) >= needed_s:
            return load_pps * (1 - trial.loss_ratio)
    return 0.0
