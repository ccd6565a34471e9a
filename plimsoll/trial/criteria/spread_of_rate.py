"""Whether the rate that comes back repeats."""

from __future__ import annotations

from typing import Literal

from plimsoll.trial.criteria.spread import Spread
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.repetition import ForwardedFrames


class SpreadOfRate(Spread):
    """The spread of the forwarded rate, in each direction.

    Where the rates differ by more, and yet the same share of what was offered came back,
    it is the tester whose rate does not repeat.
    """

    kind: Literal["spread-of-rate"] = "spread-of-rate"

    def evaluate(self, outcome: Outcome) -> list[Finding]:
        """One finding per direction; invalid where it was the tester's rate that differed."""
        trials = (*outcome.earlier, outcome.repetition())
        return [
            self._judge(direction, [each.forwarding[direction] for each in trials], outcome)
            for direction in trials[-1].forwarding
        ]

    def _judge(self, direction: str, trials: list[ForwardedFrames], outcome: Outcome) -> Finding:
        rates_pps = [each.forwarded_pps for each in trials]
        if self._differ(rates_pps) and not self._differ([each.share for each in trials]):
            said = ", and so did the tester's"
            return self._finding(self.kind, direction, rates_pps, "invalid", said)
        return self._compare(self.kind, direction, rates_pps, outcome)


CRITERION = SpreadOfRate
