"""The search for the longest burst without loss: ETSI GS NFV-TST 009's, of frames, not rates.

Pure: it says which burst to send next and is given the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BurstSearchPlan:
    """Bursts of 1 to `limit_frames`, until the bounds are near enough.

    They are when `granularity` of the upper one, or `step_frames`, lies between them. A burst
    that lost frames is repeated up to `verifications` times (binary search with loss
    verification, clause 12.3.3); without verifications it is the plain binary search.
    """

    limit_frames: int
    granularity: float
    step_frames: int
    verifications: int = 0

    def __post_init__(self) -> None:
        if self.limit_frames < 1:
            raise ValueError("the longest burst has at least one frame")


class BurstSearch:
    """Between `passed`, the longest burst without loss, and `barred`, the shortest with it.

    The limit comes first: where it passes, there is nothing to search.
    """

    def __init__(self, plan: BurstSearchPlan) -> None:
        self._plan = plan
        self._losses = 0
        self.passed = 0
        self.barred: int | None = None
        # Whether `barred` is a burst that the tester could not send, instead of a loss.
        self.barred_by_tester = False

    @property
    def next_frames(self) -> int | None:
        """The burst to send next; None when the longest is known."""
        if self.barred is None:
            limit = self._plan.limit_frames
            return None if self.passed == limit else limit
        near = max(self._plan.step_frames, int(self._plan.granularity * self.barred))
        if self.barred - self.passed <= max(1, near):
            return None
        return (self.passed + self.barred) // 2

    @property
    def step_frames(self) -> int | None:
        """How far the bounds are apart; None while nothing bars."""
        return None if self.barred is None else self.barred - self.passed

    @property
    def at_limit(self) -> bool:
        """Whether the DUT has lost nothing: its longest burst may be longer."""
        return self.barred is None or self.barred_by_tester

    def tell(self, lossless: bool | None) -> None:
        """Take the outcome of the requested burst: True without loss, None if it could not be sent.

        Raises RuntimeError when none was requested.
        """
        frames = self.next_frames
        if frames is None:
            raise RuntimeError("no burst was requested")
        if lossless:
            self._losses = 0
            self.passed = frames
        elif lossless is None:
            self._bar(frames, by_tester=True)
        elif self._losses < self._plan.verifications:
            self._losses += 1
        else:
            self._bar(frames, by_tester=False)

    def _bar(self, frames: int, *, by_tester: bool) -> None:
        self._losses = 0
        self.barred, self.barred_by_tester = frames, by_tester
