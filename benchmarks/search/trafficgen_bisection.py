"""Bisection as trafficgen's binary-search.py does it (perftool-incubator/bench-trafficgen).

By default search trials take 30 s, the granularity is 0.1 % and no trial ends early. A
failed trial halves the distance to the last load that passed, or goes down by the
granularity where that is more; a passed one halves the distance to the last that failed,
and where that is less than the granularity, the half-way load is validated without a search
trial of its own. A failed validation goes down by the granularity, to a search trial. A load
below the last that passed, failing, takes that one back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished, GoalEnd, Phase, Told


@dataclass
class TrafficgenBisection:
    """Ask and tell, so that it runs the way of the others. Loads in pps per direction."""

    minimum_pps: float
    start_pps: float
    search_s: float = 30.0
    validation_s: float = 10_800.0
    granularity: float = 0.001
    # binary-search.py's --max-retries.
    retries: int = 1
    _passed: list[float] = field(default_factory=lambda: [0.0])
    _failed_pps: float = 0.0
    _retried: int = 0
    _next: Ask | Finished = field(init=False)

    def __post_init__(self) -> None:
        self._failed_pps = self.start_pps
        self._next = self._trial("search", self.start_pps)

    def ask(self) -> Ask | Finished:
        """The next trial, or the end."""
        return self._next

    def tell(self, told: Told) -> None:
        """Take the verdict; a trial that stays invalid counts as failed."""
        asked = self._next
        if isinstance(asked, Finished):
            raise RuntimeError("the search has finished")
        verdict = told.verdict()
        if verdict == "invalid" and self._retried < self.retries:
            self._retried += 1
            self._next = replace(asked, attempt=self._retried + 1)
            return
        self._retried = 0
        self._next = self._after_pass(asked) if verdict == "pass" else self._after_fail(asked)

    def _after_pass(self, asked: Ask) -> Ask | Finished:
        load = asked.load_pps
        if asked.phase == "validation":
            return Finished((GoalEnd(ONLY_GOAL, load, "validated"),))
        self._passed.append(load)
        between = (self._failed_pps + load) / 2
        near = abs(load - between) / load < self.granularity
        return self._trial("validation" if near else "search", between)

    def _after_fail(self, asked: Ask) -> Ask | Finished:
        load = asked.load_pps
        if load <= self.minimum_pps:
            return Finished((GoalEnd(ONLY_GOAL, None, "nothing passed"),))
        down = load * (1 - self.granularity)
        if asked.phase == "search":
            if len(self._passed) > 1 and load < self._passed[-1]:
                self._passed.pop()
            halfway = (self._passed[-1] + load) / 2
            if abs(load - halfway) >= self.granularity * load:
                down = halfway
        self._failed_pps = load
        return self._trial("search", max(down, self.minimum_pps))

    def _trial(self, phase: Phase, load_pps: float) -> Ask:
        duration_s = self.validation_s if phase == "validation" else self.search_s
        return Ask(phase, load_pps, duration_s, early_abort=False)
