"""Frames lost ÷ frames offered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from plimsoll.generator.interface import TrialPlan
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import RatioField, format_ratio
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion, LossBudget
from plimsoll.trial.outcome.due_frames import due_frames
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome

Per = Literal["direction", "port-pair", "stream", "total"]


class LossRatio(Criterion):
    """At most this share of the offered frames is lost, in each direction or other group.

    A port pair is both directions between two ports together.
    """

    kind: Literal["loss-ratio"] = "loss-ratio"
    # The default of the seed methodology (trafficgen's max-loss-pct).
    at_most: RatioField = 2e-5
    per: Per = "direction"

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per group; a loss that stalls explain is invalid."""
        unexcused = outcome.unexcused_losses()
        if not outcome.sending:
            return [self._finding("trial", None, "invalid", "no stream was to send anything")]
        return [
            self._judge(subject, streams, outcome, sum(unexcused[each] for each in streams))
            for subject, streams in self._groups(outcome.sending).items()
        ]

    def losses_allowed(self, plan: TrialPlan) -> list[LossBudget]:
        """The limit as frames of the whole planned trial; none where a stream's are unknown."""
        judged = [each for each in plan.streams if not each.filtered]
        planned = {each.stream: due_frames(each, plan.duration_s) for each in judged}
        budgets: list[LossBudget] = []
        for streams in self._groups(judged).values():
            known = [frames for each in streams if (frames := planned[each]) is not None]
            if len(known) == len(streams):
                budgets.append(LossBudget(frozenset(streams), self.at_most * sum(known)))
        return budgets

    def _judge(self, subject: str, streams: list[int], outcome: Outcome, unexcused: int) -> Finding:
        offered = sum(outcome.offered(each) for each in streams)
        lost = sum(outcome.lost(each) for each in streams)
        if not offered:
            return self._finding(subject, None, "invalid", "no frame was offered")
        ratio = lost / offered
        said = f"{lost:,} of {offered:,} frames lost"
        if ratio <= self.at_most:
            return self._finding(subject, ratio, "ok", said)
        if unexcused / offered <= self.at_most:
            said += f", all but {unexcused:,} while the tester stalled"
            return self._finding(subject, ratio, "invalid", said)
        return self._finding(subject, ratio, "fail", said)

    def _finding(
        self, subject: str, ratio: float | None, outcome: FindingOutcome, said: str
    ) -> Finding:
        share = "" if ratio is None else f" ({format_ratio(ratio)})"
        text = f"{subject}: {said}{share}; at most {format_ratio(self.at_most)} allowed"
        return Finding(self.kind, subject, ratio, self.at_most, "ratio", outcome, text)

    def _groups(self, streams: Iterable[StreamPlan]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for plan in streams:
            groups.setdefault(self._subject(plan), []).append(plan.stream)
        return groups

    def _subject(self, plan: StreamPlan) -> str:
        match self.per:
            case "direction":
                return f"{plan.tx_port}-{plan.rx_port}"
            case "port-pair":
                return f"ports {' and '.join(map(str, sorted({plan.tx_port, plan.rx_port})))}"
            case "stream":
                return plan.name
            case "total":
                return "all streams"


CRITERION = LossRatio
