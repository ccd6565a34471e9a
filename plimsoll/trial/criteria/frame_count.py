"""Frames that came back out of order, twice, damaged, or on the wrong port."""

from __future__ import annotations

from pydantic import NonNegativeInt

from plimsoll.generator.interface import FrameCheck, FrameFault, StreamCounts
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


class FrameCount(Criterion):
    """At most this many frames of each stream with one fault.

    Corrupt are frames whose signature or checksums are wrong. Where some of a stream's frames,
    and not all, came back without the checksums that they were sent with, whether those are
    damaged is unknown: then `corrupt` is invalid.
    """

    kind: FrameFault
    at_most: NonNegativeInt = 0

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per stream; invalid where none of its frames came in to be looked at."""
        return [self._judge(plan, outcome) for plan in outcome.sending]

    def _judge(self, plan: StreamPlan, outcome: Outcome) -> Finding:
        counts = outcome.counts(plan.stream)
        if outcome.offered(plan.stream) and not _came(counts):
            return self._finding(plan.name, None, "invalid", "no frame came in")
        count = _count(counts, self.kind)
        verdict: FindingOutcome = "ok" if count <= self.at_most else "fail"
        said = f"{count:,} frames {self.kind}"
        if self.kind == "corrupt":
            said += f" ({examined(counts, outcome.plan.check, plan.signature_bytes)})"
            if verdict == "ok" and 0 < counts.unchecked < counts.received:
                verdict = "invalid"
        return self._finding(plan.name, count, verdict, said)

    def _finding(
        self, subject: str, count: int | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        text = f"{subject}: {said}; at most {self.at_most:,} {self.kind} allowed"
        return Finding(self.kind, subject, count, self.at_most, "frames", outcome, text)


def _came(counts: StreamCounts) -> int:
    """On whichever port, whole or not."""
    return counts.received + counts.corrupt + counts.misdirected


def _count(counts: StreamCounts, fault: FrameFault) -> int:
    match fault:
        case "out-of-order":
            return counts.out_of_order
        case "duplicate":
            return counts.duplicate
        case "corrupt":
            return counts.corrupt
        case "misdirected":
            return counts.misdirected


# How much of a stream's received frames was looked at for damage, in words.
def examined(counts: StreamCounts, check: FrameCheck, signature_bytes: int) -> str:
    """What "corrupt" covers, so that it is not taken for more."""
    said = f"checked: the {signature_bytes}-byte signature of {counts.received + counts.corrupt:,}"
    if check == "signature":
        return f"{said}, no other byte"
    parts = [said]
    if counts.checked:
        parts.append(f"all from the IP header on, by checksums, of {counts.checked:,}")
    if counts.header_checked:
        parts.append(f"the IPv4 header of {counts.header_checked:,}")
    if counts.checked + counts.header_checked == 0:
        parts.append("no other byte, as there was no checksum that could be")
    elif counts.unchecked:
        parts.append(f"{counts.unchecked:,} came back without checksums that they were sent with")
    return "; ".join(parts)


CRITERION = FrameCount
