"""Lost frames that did come back: corrupt, or on a wrong port, as the tester counted them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.attribution.incidents.cause import Cause, CauseKind, Confidence, Explanation

# What became of such frames, in words.
RETURNED: dict[CauseKind, str] = {
    "corrupt": "came back corrupt",
    "misdirected": "came back on a wrong port",
}


@dataclass(frozen=True, slots=True)
class StreamLosses:
    """Frames of a stream that did not come back as they were, and those that did otherwise."""

    lost: int
    corrupt: int = 0
    misdirected: int = 0

    @property
    def returned(self) -> int:
        """Corrupt or on a wrong port: no queue has dropped them."""
        return min(self.lost, self.corrupt + self.misdirected)


def with_returned(
    found: Sequence[Explanation], streams: Mapping[str, StreamLosses]
) -> tuple[Explanation, ...]:
    """The explanations, with frames that came back as the cause where that is what was lost.

    Exact where all lost frames of the stream came back. Where only some did, these are taken to
    be the smallest of the loss events that nothing seen explains: partial.
    """
    replaced: dict[int, Explanation] = {}
    for name, losses in streams.items():
        if losses.returned:
            replaced |= _replaced(found, name, losses)
    return tuple(replaced.get(place, each) for place, each in enumerate(found))


def _replaced(
    found: Sequence[Explanation], stream: str, losses: StreamLosses
) -> dict[int, Explanation]:
    whole = losses.returned == losses.lost
    events = [
        (place, each)
        for place, each in enumerate(found)
        if each.incident.kind == "loss"
        and each.incident.subject == stream
        and not each.incident.refused
        and (whole or _is_open(each.causes))
    ]
    kind: CauseKind = "corrupt" if losses.corrupt >= losses.misdirected else "misdirected"
    left = losses.returned
    chosen: dict[int, Explanation] = {}
    for place, each in sorted(events, key=lambda event: event[1].incident.frames):
        left -= each.incident.frames
        if left < 0 and not whole:
            break
        cause = _cause(kind, "exact" if whole else "partial")
        chosen[place] = Explanation(each.incident, (cause,))
    return chosen


def _is_open(causes: Iterable[Cause]) -> bool:
    return all(cause.confidence in ("counter", "unexplained") for cause in causes)


def _cause(kind: CauseKind, confidence: Confidence) -> Cause:
    return Cause(
        kind=kind,
        name=f"the frames {RETURNED[kind]}",
        owner=None,
        cpu=None,
        pid=None,
        cgroup=None,
        woken_by=None,
        begin_tsc=None,
        length_ns=None,
        confidence=confidence,
    )
