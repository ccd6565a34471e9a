"""Whether the DUT dropped the frames that it is to drop."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


def unfiltered(outcome: Outcome) -> Iterable[Finding]:
    """A finding for each stream to be filtered, of which no frame may come back.

    As trafficgen has it of its streams of type ddos. Frames that came in damaged or on
    another port have passed the DUT as well.
    """
    for plan in outcome.plan.streams:
        if plan.filtered:
            counts = outcome.counts(plan.stream)
            came = counts.received + counts.corrupt + counts.misdirected
            text = (
                f"{plan.name}: {came:,} of {outcome.offered(plan.stream):,} frames passed the "
                "DUT, which is to drop all of them"
            )
            verdict: FindingOutcome = "ok" if came == 0 else "fail"
            yield Finding("unfiltered", plan.name, came, 0, "frames", verdict, text)
