"""Frames that the DUT did not take ÷ frames offered, by the DUT's own counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import RatioField, format_ratio
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome


class DutReceived(Criterion):
    """At most this share of the frames offered to a port of the DUT is not received by it.

    It is for a DUT that returns nothing, or not all. What the DUT counts is all that its port
    took, whichever stream it was of, so that each port is judged as a whole. Those that a stall
    of the tester may explain are none: a frame that was sent has left the tester.
    """

    kind: Literal["dut-received"] = "dut-received"
    at_most: RatioField = 2e-5

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding for each of the DUT's ports that frames were sent to."""
        if outcome.dut_before is None or outcome.dut_after is None:
            # A window of a trial has none; the whole trial is judged when it has ended.
            unknown: FindingOutcome = "ok" if outcome.comes_again else "invalid"
            said = "the DUT has no counters that could be read"
            return [self._finding("trial", None, unknown, said)]
        findings = list(self._by_port(outcome))
        return findings or [self._finding("trial", None, "invalid", "no frame was offered")]

    def _by_port(self, outcome: Outcome) -> Iterator[Finding]:
        before = {each.port: each.rx_frames for each in outcome.dut_before or ()}
        received = {
            each.port: each.rx_frames - before[each.port] for each in outcome.dut_after or ()
        }
        for port, offered in _offered(outcome).items():
            subject = f"port {port}"
            if port not in received:
                said = "the DUT has no counters of it"
                yield self._finding(subject, None, "invalid", said)
            elif offered:
                missing = offered - received[port]
                ratio = missing / offered
                verdict: FindingOutcome = "ok" if ratio <= self.at_most else "fail"
                said = f"{missing:,} of {offered:,} frames not received by the DUT"
                # More than was sent to it came from elsewhere.
                yield self._finding(subject, ratio, verdict if missing >= 0 else "invalid", said)

    def _finding(
        self, subject: str, ratio: float | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        share = "" if ratio is None else f" ({format_ratio(ratio)})"
        text = f"{subject}: {said}{share}; at most {format_ratio(self.at_most)} allowed"
        return Finding(self.kind, subject, ratio, self.at_most, "ratio", outcome, text)


def _offered(outcome: Outcome) -> dict[int, int]:
    """By the port that they were sent to: of all streams, those in the background as well."""
    refused_is_lost = outcome.drained_by == "dut"
    counts = {each.stream: each for each in (*outcome.report.streams, *outcome.background.counts)}
    offered: dict[int, int] = {}
    for plan in (*outcome.plan.streams, *outcome.background.streams):
        each = counts[plan.stream]
        frames = each.sent + (each.refused if refused_is_lost else 0)
        offered[plan.tx_port] = offered.get(plan.tx_port, 0) + frames
    return offered


CRITERION = DutReceived
