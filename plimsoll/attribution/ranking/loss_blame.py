"""Whose the lost frames of a trial are: the tester's, the platform's, or the DUT's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import Explanation
from plimsoll.attribution.incidents.weights import weights
from plimsoll.record.causes.causes_record import Cause

_SEEN = ("exact", "partial")


@dataclass(frozen=True, slots=True)
class LossBlame:
    """Frames of the loss events that were listed, by what caused them.

    `tester`: its own loop was away, or a process of its own had the DUT's CPU. `platform`:
    something else had the DUT's CPU. `unseen`: no loop was seen to be away, or the DUT was busy
    with something else, or only a counter moved; then it is the DUT's own, unless something else
    is known. Frames of unlisted events are in none of them.
    """

    tester: float
    platform: float
    unseen: float

    @property
    def frames(self) -> float:
        """All of them."""
        return self.tester + self.platform + self.unseen


def loss_blame(explanations: Sequence[Explanation]) -> LossBlame:
    """Of all loss events among the explained incidents."""
    frames = {"tester": 0.0, "platform": 0.0, "unseen": 0.0}
    for each in explanations:
        if each.incident.kind == "loss":
            for blamed, share in _shares(each):
                frames[blamed] += share * each.incident.frames
    return LossBlame(**frames)


def _shares(explanation: Explanation) -> list[tuple[str, float]]:
    shared = weights(explanation)
    return [(_blamed(cause), share) for cause, share in shared] or [("unseen", 1.0)]


def _blamed(cause: Cause) -> str:
    if cause.owner is None or cause.confidence not in _SEEN or cause.kind == "busy-elsewhere":
        return "unseen"
    return "tester" if cause.own or cause.owner == "tester" else "platform"
