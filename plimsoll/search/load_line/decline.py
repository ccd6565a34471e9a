"""A capacity that falls while the trial runs, extrapolated to the end of the validation."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.search.load_line.tried import Tried

# So many intervals without a loss make two lossy ones in a row no coincidence.
_QUIET_INTERVALS = 10
# The first time, the line is followed no further than this; each failure doubles it. It is
# drawn from a difference of loads about as large as the width, so it may be wrong by half.
_FIRST_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Decline:
    """The capacity was `before_pps` as a trial began, and `after_pps` `after_s` later."""

    before_pps: float
    after_pps: float
    after_s: float

    def share_lost(self, duration_s: float, failures: int) -> float:
        """The share of the capacity that goes in `duration_s`, on a straight line."""
        per_s = max(0.0, self.before_pps - self.after_pps) / (self.before_pps * self.after_s)
        return min(per_s * duration_s, _FIRST_STEP * 2.0 ** (failures - 1), 0.5)


def declined(tried: Tried) -> bool:
    """Whether losses began late and then did not end: not a stall, but a falling capacity."""
    evidence = tried.evidence
    if evidence.first_loss_s is None or not tried.interval_s:
        return False
    quiet = evidence.first_loss_s / tried.interval_s
    lossy_s = evidence.lossy_intervals * tried.interval_s
    after_s = evidence.sending_s - evidence.first_loss_s
    return quiet >= _QUIET_INTERVALS and evidence.lossy_intervals >= 2 and lossy_s >= 0.8 * after_s
