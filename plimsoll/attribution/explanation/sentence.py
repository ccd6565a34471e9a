"""An explanation as one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.attribution.explanation.returned_frames import RETURNED
from plimsoll.attribution.incidents.incident import CauseKind, Explanation, Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import HostCpu, of_host
from plimsoll.text.units import format_ns

_MAX_NAMED = 3
# What took no CPU from a loop but kept it off.
_DID_NOT_RUN: tuple[CauseKind, ...] = (
    "stopped",
    "moved",
    "slept",
    "throttling",
    "major-fault",
    "idle-exit",
    "lock-contention",
    "stood-still",
    "busy-elsewhere",
)


def sentence(explanation: Explanation, loops: Sequence[PollingLoop]) -> str:
    """For people: what happened, and the chain that led to it, as far as it is known."""
    incident, causes = explanation.incident, explanation.causes
    parts: list[str] = []
    for place in dict.fromkeys(cause.place for cause in causes):
        mine = [cause for cause in causes if cause.place == place]
        parts += _of_one_cpu(incident, mine, _process(loops, place))
    return (
        f"{_what(incident)}: {'; and '.join(parts)}" if parts else f"{_what(incident)}: unexplained"
    )


def _what(incident: Incident) -> str:
    if incident.kind == "loss":
        frames = f"{incident.frames:,} {'frame' if incident.frames == 1 else 'frames'}"
        return f"loss of {frames} of {incident.subject}"
    kind = "spike" if incident.kind == "latency" else "stall"
    return f"{kind} of {incident.subject}, {format_ns(incident.length_ns)}"


def _of_one_cpu(incident: Incident, causes: Sequence[Cause], process: str) -> list[str]:
    taken = [c for c in causes if c.confidence in ("exact", "partial") and c.kind != "tester-stall"]
    others = [c for c in causes if c.confidence in ("counter", "unexplained")]
    said = []
    if taken and taken[0].kind in RETURNED:
        # No CPU was taken, and no queue overflowed.
        said.append(taken[0].name)
    elif taken:
        said.append(f"{_consequence(incident, taken[0])}{_taken(taken, process)}")
    elif stall := next((c for c in causes if c.kind == "tester-stall"), None):
        away = "" if stall.length_ns is None else f" for {format_ns(stall.length_ns)}"
        what = "frames were lost" if incident.kind == "loss" else "frames waited"
        said.append(f"{what} because {stall.name}{away}")
    rest = [_by_counter(cause) for cause in others]
    # What took most of it comes first.
    return [*rest, *said] if _length(others) > _length(taken) else [*said, *rest]


def _length(causes: Sequence[Cause]) -> int:
    return sum(cause.length_ns or 0 for cause in causes)


def _consequence(incident: Incident, cause: Cause) -> str:
    """What taking the CPU led to; nothing for a stall, which it is itself."""
    if incident.kind == "stall":
        return ""
    if cause.owner == "tester":
        return "the tester's own loop did not poll, because "
    after = cause.confidence == "partial"
    if incident.kind == "loss":
        return f"the DUT's queue overflowed {'after' if after else 'because'} "
    return f"frames waited in the DUT's queue {'after' if after else 'because'} "


def _taken(causes: Sequence[Cause], process: str) -> str:
    first = causes[0]
    total = _length(causes)
    if first.kind in _DID_NOT_RUN:
        text = f"{process} on {first.place} {_did_not_run(first)} for {format_ns(total)}"
    else:
        named = " and ".join(_named(cause, len(causes) > 1) for cause in causes[:_MAX_NAMED])
        more = len(causes) - _MAX_NAMED
        rest = f" and {more} more" if more > 0 else ""
        text = f"{first.place} was taken from {process} for {format_ns(total)} by {named}{rest}"
    return f"{text}, {_set_off(first)} {first.woken_by}" if first.woken_by else text


def _set_off(cause: Cause) -> str:
    return {"stopped": "sent by", "ipi": "sent by", "tlb-shootdown": "sent by"}.get(
        cause.kind, "woken by"
    )


def _did_not_run(cause: Cause) -> str:
    return {
        "stopped": f"was stopped by {cause.name}",
        "moved": f"was {cause.name} and did not run",
        "lock-contention": f"waited for {cause.name}",
        "stood-still": f"did not run, as {cause.name},",
        "busy-elsewhere": "passed nothing on, though its CPU ran it,",
        "throttling": "was throttled (it could run and did not)",
        "major-fault": f"waited for {cause.name}",
        "idle-exit": "waited for its CPU to wake up from idle",
    }.get(cause.kind, f"did not run ({cause.name})")


def _named(cause: Cause, with_length: bool) -> str:
    own = ", Plimsoll's own" if cause.own else ""
    pid = "" if cause.pid is None else f" [{cause.pid}{own}]"
    length = f" ({format_ns(cause.length_ns)})" if with_length and cause.length_ns else ""
    if cause.kind == "hypervisor-steal":
        return f"the hypervisor{length}"
    return f"{cause.name}{pid}{length}"


def _by_counter(cause: Cause) -> str:
    length = "" if cause.length_ns is None else f" for {format_ns(cause.length_ns)}"
    if cause.confidence == "unexplained":
        return f"unexplained{length}: {cause.name}"
    kind = {"hypervisor-steal": "the hypervisor", "hardware": "the hardware (SMI)"}
    what = f"{cause.name}{of_host(cause.host)}"
    return f"by its counter alone, {kind.get(cause.kind, cause.kind)}{length}: {what}"


def _process(loops: Sequence[PollingLoop], place: HostCpu) -> str:
    return next((loop.process for loop in loops if loop.place == place), "the polling loop")
