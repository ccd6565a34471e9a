"""Lost frames that did come back: corrupt, on a wrong port, or cut short, as the tester counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.attribution.incidents.incident import CauseKind, Explanation
from plimsoll.record.causes.causes_record import Cause, Confidence

# What became of such frames, in words.
RETURNED: dict[CauseKind, str] = {
    "corrupt": "came back corrupt",
    "misdirected": "came back on a wrong port",
    "truncated": "came back cut short",
}


@dataclass(frozen=True, slots=True)
class StreamLosses:
    """Frames of a stream that did not come back as they were, and those that did otherwise.

    `truncated` have lost their signature with their end: whose they were, their port and their
    number say, and no more.
    """

    lost: int
    corrupt: int = 0
    misdirected: int = 0
    truncated: int = 0

    @property
    def returned(self) -> int:
        """Corrupt or on a wrong port: no queue has dropped them."""
        return min(self.lost, self.corrupt + self.misdirected)


def shared_truncated(losses: Sequence[StreamLosses], truncated: int) -> list[StreamLosses]:
    """The losses of all streams to a port, each with its share of what came in there cut short.

    Known where one stream alone lost frames, or where no more are missing than were cut short;
    else it is not known whose they were, and they are left out.
    """
    missing = [each.lost - each.returned for each in losses]
    if sum(map(bool, missing)) > 1 and sum(missing) > truncated:
        return list(losses)
    return [
        replace(each, truncated=min(lost, truncated))
        for each, lost in zip(losses, missing, strict=True)
    ]


def with_returned(
    found: Sequence[Explanation], streams: Mapping[str, StreamLosses]
) -> tuple[Explanation, ...]:
    """The explanations, with frames that came back as the cause where that is what was lost.

    Exact where all lost frames of the stream came back with their signature. Where only some did,
    and of those cut short, these are taken to be the smallest of the loss events that nothing
    seen explains: partial.
    """
    for name, losses in streams.items():
        if losses.returned:
            kind: CauseKind = "corrupt" if losses.corrupt >= losses.misdirected else "misdirected"
            whole = losses.returned == losses.lost
            found = _replaced(found, name, kind, losses.returned, whole=whole)
        found = _replaced(found, name, "truncated", losses.truncated, whole=False)
    return tuple(found)


def _replaced(
    found: Sequence[Explanation], stream: str, kind: CauseKind, frames: int, *, whole: bool
) -> list[Explanation]:
    events = [
        (place, each)
        for place, each in enumerate(found)
        if each.incident.kind == "loss"
        and each.incident.subject == stream
        and not each.incident.refused
        and (whole or _is_open(each.causes))
    ]
    left = frames
    chosen: dict[int, Explanation] = {}
    for place, each in sorted(events, key=lambda event: event[1].incident.frames):
        left -= each.incident.frames
        if left < 0 and not whole:
            break
        cause = _cause(kind, "exact" if whole else "partial")
        chosen[place] = Explanation(each.incident, (cause,))
    return [chosen.get(place, each) for place, each in enumerate(found)]


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
