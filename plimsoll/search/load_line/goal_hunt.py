"""The hunt for one goal's load line: bracket, watch, forecast, validate, learn, repeat."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.search.ask import Ask, GoalEnd, LimitedBy
from plimsoll.search.load_line.bracket import Barred, Bracket
from plimsoll.search.load_line.confidence import confidence_notes
from plimsoll.search.load_line.decline import Decline, declined
from plimsoll.search.load_line.knowledge import Knowledge
from plimsoll.search.load_line.limit import Limit
from plimsoll.search.load_line.plan import GoalPlan
from plimsoll.search.load_line.stall_limit import burst_wanted, chance_to_survive, stall_limit
from plimsoll.search.load_line.stalls import unexplained_losses
from plimsoll.search.load_line.tried import Tried
from plimsoll.traffic.units import format_duration, format_pps

# A load that passed is only accepted with this chance of surviving as long again; a forecast
# has an error, so less is asked for than the confidence that candidates are chosen by.
_ACCEPTED_CHANCE = 0.85
# A load that passed is left for a higher one only when the forecast is this much higher.
_WORTH_A_CLIMB = 0.03


@dataclass(frozen=True, slots=True)
class Choice:
    """What to ask next, by which rule, and why."""

    ask: Ask
    rule: str
    why: str


class GoalHunt:
    """Learns from every trial of the search, whatever goal it was asked for."""

    def __init__(self, goal: GoalPlan, knowledge: Knowledge) -> None:
        self._goal = goal
        self._plan = knowledge.plan
        self._knowledge = knowledge
        self._bracket = Bracket(self._plan.minimum_pps, self._plan.maximum_pps, self._plan.width)
        self._search_s = self._plan.duration_s
        self._watched_pps: float | None = None
        self._failures = 0
        self._failure_limit: Limit | None = None
        self._decline: Decline | None = None
        self._passed: list[float] = []
        self._rechecked: set[float] = set()
        self._untestable: str | None = None

    @property
    def name(self) -> str:
        """The goal's."""
        return self._goal.name

    def next(self) -> Choice | GoalEnd:
        """The next trial for this goal, or how it ended."""
        if self._untestable is not None:
            return self._end(self._untestable)
        if (choice := self._narrow()) is not None:
            return choice
        base = self._bracket.lower_pps
        if base is None:
            return self._end(self._why_none())
        return self._watch(base) or self._burst(base) or self._validate(base)

    def learn(self, tried: Tried, number: int) -> None:
        """Take what a trial said; `number` counts the search's trials."""
        if tried.asked.phase == "burst" or not self._is_judged(tried):
            return
        if tried.asked.phase == "watch":
            self._watched_pps = tried.load_pps
        if tried.asked.phase == "validation" and tried.failed(self.name):
            self._learn_failure(tried, number)
        elif self._too_high(tried):
            self._bar(tried, number)
        else:
            self._bracket.carry(tried.load_pps, number)
            if tried.asked.phase == "validation" and tried.passed(self.name):
                self._passed.append(tried.load_pps)

    def untestable(self, asked: Ask, number: int) -> None:
        """Every try of a trial asked for this goal was invalid."""
        if asked.phase == "validation":
            self._untestable = (
                f"{asked.attempt} validations in a row at {format_pps(asked.load_pps)} were "
                "invalid: the tester could not tell whether the load holds"
            )
        self._bracket.bar(Barred(asked.load_pps, None, number, by_tester=True))
        if asked.phase == "watch":
            self._watched_pps = None

    # What a trial says.

    def _is_judged(self, tried: Tried) -> bool:
        return tried.passed(self.name) or tried.failed(self.name)

    def _too_high(self, tried: Tried) -> bool:
        """Whether a trial says that the load is beyond what this goal's DUT can carry."""
        capacity = self._knowledge.overload_capacity_pps(tried)
        if capacity is not None and 1.0 - capacity / tried.load_pps > self._tolerance:
            return True
        if not tried.failed(self.name):
            return False
        if any(rule != "loss-ratio" for rule in tried.told.rules.get(self.name, ())):
            return True
        # A single event of loss in a short trial says little of a share over hours.
        long_enough = tried.asked.duration_s >= self._plan.watch_s
        return self._tolerance > 0.0 and (long_enough or capacity is not None)

    def _bar(self, tried: Tried, number: int) -> None:
        capacity = self._knowledge.overload_capacity_pps(tried)
        if capacity is None and self._tolerance > 0.0 and tried.evidence.lost:
            capacity = tried.load_pps * (1.0 - tried.evidence.loss_ratio)
        self._bracket.bar(Barred(tried.load_pps, capacity, number))
        if tried.asked.phase == "watch" and capacity is None:
            # What only a long trial shows must be looked for by long trials.
            self._search_s = self._plan.watch_s

    def _learn_failure(self, tried: Tried, number: int) -> None:
        self._failures += 1
        if any(rule != "loss-ratio" for rule in tried.told.rules.get(self.name, ())):
            self._step_below(tried, "a criterion other than loss")
        elif declined(tried):
            self._learn_decline(tried)
        elif self._knowledge.overload_capacity_pps(tried) is not None:
            self._bar(tried, number)
            self._step_below(tried, "loss that did not end")
        elif unexplained_losses(tried):
            self._step_below(tried, "losses without a stall")
        else:
            self._limit(tried.load_pps * (1.0 - self._plan.width / 2), tried, "a stall")

    def _step_below(self, tried: Tried, cause: str) -> None:
        """Nothing says how far down, so further each time."""
        share = min(0.5, self._plan.width * 2.0 ** (self._failures - 1))
        self._limit(tried.load_pps * (1.0 - share), tried, cause)

    def _limit(self, load_pps: float, tried: Tried, cause: str) -> None:
        if self._failure_limit is None or load_pps < self._failure_limit.load_pps:
            at_s = tried.evidence.first_loss_s or tried.evidence.sending_s
            text = (
                f"a validation at {format_pps(tried.load_pps)} failed after "
                f"{format_duration(at_s)} by {cause}"
            )
            self._failure_limit = Limit(load_pps, "failure", text)

    def _learn_decline(self, tried: Tried) -> None:
        """Measure the capacity anew: it may be lower now, or as before with each new trial."""
        upper = self._bracket.upper
        before = self._bracket.root_pps(self._tolerance) or tried.load_pps
        first_loss_s = tried.evidence.first_loss_s or tried.evidence.sending_s
        self._decline = Decline(max(before, tried.load_pps), tried.load_pps, first_loss_s)
        self._limit(tried.load_pps * (1.0 - self._plan.width / 2), tried, "a falling capacity")
        top = self._plan.maximum_pps if upper is None else upper.load_pps
        self._bracket = Bracket(self._plan.minimum_pps, top, self._plan.width)

    # What to do next.

    def _narrow(self) -> Choice | None:
        bracket = self._bracket
        if not bracket.is_narrow:
            aim = bracket.aim(self._tolerance)
            return self._search(aim, "bracket", "the capacity lies between the bounds")
        upper = bracket.upper
        if upper is not None and bracket.is_upper_older and upper.load_pps not in self._rechecked:
            self._rechecked.add(upper.load_pps)
            return self._search(
                upper.load_pps, "recheck", "the load failed before a lower one was carried"
            )
        return None

    def _search(self, load_pps: float, rule: str, why: str) -> Choice:
        ask = Ask("search", load_pps, self._search_s, goal=self.name, early_abort=False)
        return Choice(ask, rule, why)

    def _watch(self, base: float) -> Choice | None:
        if self._watched_pps is not None or self._passed or self._failures:
            return None
        if self._plan.watch_s <= self._search_s:
            return None
        ask = Ask("watch", base, self._plan.watch_s, goal=self.name, early_abort=False)
        return Choice(ask, "watch", "stalls show as latency peaks before they lose anything")

    def _burst(self, base: float) -> Choice | None:
        if self._tolerance > 0.0:
            return None
        frames = burst_wanted(self._knowledge, base)
        if frames is None:
            return None
        ask = Ask("burst", base, self._plan.duration_s, goal=self.name, burst_frames=frames)
        return Choice(ask, "burst", "the longest stall may let more come than the buffer holds")

    def _validate(self, base: float) -> Choice | GoalEnd:
        limit = min(self._limits(base), key=lambda each: each.load_pps)
        load = max(limit.load_pps, self._plan.minimum_pps)
        best = max(self._likely_to_survive(), default=None)
        if best is not None and load <= best * (1.0 + _WORTH_A_CLIMB):
            return self._end("passed its validation", limit)
        if self._failures >= self._plan.attempts:
            return self._end(f"{self._failures} validations failed", limit)
        if limit.load_pps < self._plan.minimum_pps and self._failed_at_minimum():
            return self._end("even at the minimum, validation failed", limit)
        if any(abs(load - passed) <= self._plan.width / 2 * load for passed in self._passed):
            return self._end("passed its validation", limit)
        ask = Ask("validation", load, self._plan.validation_s, goal=self.name)
        return Choice(ask, f"validate-{limit.kind}", limit.text)

    def _likely_to_survive(self) -> list[float]:
        """The loads that passed, but those whose buffer a longer stall will likely overflow."""
        if self._tolerance > 0.0:
            return self._passed
        return [
            load
            for load in self._passed
            if chance_to_survive(self._knowledge, load) >= _ACCEPTED_CHANCE
        ]

    def _failed_at_minimum(self) -> bool:
        return any(
            tried.load_pps <= self._plan.minimum_pps and tried.failed(self.name)
            for tried in self._knowledge.trials
        )

    def _limits(self, base: float) -> list[Limit]:
        limits = [Limit(base, "capacity", "the capacity of the DUT")]
        if self._failure_limit is not None:
            limits.append(self._failure_limit)
        if self._decline is not None:
            lost = self._decline.share_lost(self._plan.validation_s, self._failures)
            text = f"a capacity that falls by {lost:.2%} in the time of a validation"
            limits.append(Limit(base * (1.0 - lost), "decline", text))
        if self._tolerance == 0.0:
            limits += self._zero_loss_limits()
        return limits

    def _zero_loss_limits(self) -> list[Limit]:
        limits = []
        if (stalls := stall_limit(self._knowledge)) is not None:
            limits.append(stalls)
        loss_free_pps = self._knowledge.loss_free_pps()
        if loss_free_pps is not None:
            text = (
                f"losses without a stall, which become rare enough at {format_pps(loss_free_pps)}"
            )
            limits.append(Limit(loss_free_pps, "losses", text))
        return limits

    @property
    def _tolerance(self) -> float:
        """The share of frames that may be lost: as the goal says, or as passing trials show."""
        if self._goal.tolerance is not None:
            return self._goal.tolerance
        return max(
            (t.evidence.loss_ratio for t in self._knowledge.trials if t.passed(self.name)),
            default=0.0,
        )

    # How it ends.

    def _end(self, reason: str, limit: Limit | None = None) -> GoalEnd:
        best = max(self._likely_to_survive(), default=min(self._passed, default=None))
        if best is None:
            return GoalEnd(self.name, None, reason)
        known = () if limit is None else (f"limited by {limit.text}",)
        notes = known + confidence_notes(self._plan.validation_s)
        return GoalEnd(self.name, best, reason, self._limited_by(best), notes=notes)

    def _limited_by(self, best: float) -> LimitedBy:
        upper = self._bracket.upper
        if upper is None:
            return "maximum" if best >= self._plan.maximum_pps else "dut"
        return "tester" if upper.by_tester and not self._failures else "dut"

    def _why_none(self) -> str:
        minimum = format_pps(self._plan.minimum_pps)
        upper = self._bracket.upper
        if upper is not None and upper.by_tester:
            return f"even at the minimum, {minimum}, no trial could be tested"
        return f"even at the minimum, {minimum}, no trial passed"
