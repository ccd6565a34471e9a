"""The hunt for one goal's load line: bracket, watch, forecast, validate, learn, repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..strategy.ask import Ask, GoalEnd, LimitedBy
from ..strategy.question import why_untestable
from ..text.units import format_duration, format_pps, format_ratio
from .allowed_loss.allowed_loss_limit import (
    allowed_loss_limit,
    allowed_phases_limit,
)
from .end_notes import end_notes
from .goal_record import GoalRecord
from .hazard import LossRate, loss_free_pps
from .knowledge import Knowledge
from .limit import Limit
from .loss_floor import APART, MIN_EVENTS, loss_floor
from .plan import Budget, GoalPlan
from .slow_phases.overlap import stalls_outlast
from .slow_phases.slow_phase_limit import (
    slow_phase_limit,
    trigger_to_look_for,
    trigger_to_validate,
)
from .stalls.stall_limit import burst_wanted, stall_limit

# A load that passed is left for a higher one only when the forecast is this much higher.
_WORTH_A_CLIMB = 0.03
# A DUT that recovers slowly from overload rests, at the minimum, so many search trials long.
_REST = 5
# Where an overload may have collapsed it, it rests so long, but for no larger a share of the
# validation; once such a rest was in vain, for so many search trials.
_LONG_REST_S, _LONG_REST_SHARE = 60.0, 0.01
_SHORT_REST = 2
# Losses without a stall are followed down by watching until one has fewer events than this,
# at loads that are expected to have so many.
_MANY_EVENTS, _FEW_EVENTS = 10, 3
_MAX_APPROACHES = 8
# Halvings of the range of loads in which something begins to slow the DUT down.
_MAX_TRIGGERS = 8
# More than two validations that pass are hours for little.
_MAX_PROOFS = 2
# Stalls are studied again where the forecast has moved by more than this share: they may
# depend on the load.
_STUDIED, _MAX_STUDIES = 0.1, 3
# What waits in a queue foretells these.
_STALLED = ("stalls", "brief-phase")
# As a share of the load: so far, a forecast is looked into before it is believed.
_FAR = 0.05


@dataclass(frozen=True, slots=True)
class Choice:
    """What to ask next, by which rule, and why."""

    ask: Ask
    rule: str
    why: str


class GoalHunt:
    """Says what to try next for one goal, by the rules of docs/load-line.md, in order."""

    def __init__(self, goal: GoalPlan, knowledge: Knowledge) -> None:
        self.name = goal.name
        self.record = GoalRecord(goal, knowledge)
        self._plan = knowledge.plan
        self._knowledge = knowledge
        self._rested: set[float] = set()
        self._rechecked: set[float] = set()
        # Whether a load was carried after a long rest, and not right after an overload.
        self._rest_helped = False
        self._approaches = 0
        self._triggers = 0
        self._looked_for_floor = False
        self._studied_losses = False
        self._studied_stalls: list[float] = []
        self._studied_decline = False

    def next(self) -> Choice | GoalEnd:
        """The next trial for this goal, or how it ended."""
        record = self.record
        self._rest_helped |= any(record.bracket.carried(each) for each in self._rechecked)
        if record.untestable is not None:
            return self._end(record.untestable)
        if (choice := self._recover() or self._rest() or self._study_decline()) is not None:
            return choice
        if record.decline is not None:
            left_pps = record.decline.left_pps(self._plan.validation_s)
            return self._validate(min(left_pps, record.bracket.maximum_pps))
        if (choice := self._narrow()) is not None:
            return choice
        base = record.bracket.lower_pps
        if base is None:
            return self._end(self._why_none())
        return self._end_at_floor() or self._look_into_failure(base) or self._validate(base)

    def _look_into_failure(self, base_pps: float) -> Choice | None:
        """What ends a validation early is not worth looking for before one has failed.

        Unless a short trial has shown it already. Only a goal without any loss asks for every
        event to be foreseen; one that allows some, for what stalls lose together.
        """
        record = self.record
        foreseen = min(self._limits(base_pps), key=lambda each: each.load_pps).kind != "capacity"
        if record.proved or not (record.failures or foreseen):
            return None
        if not record.foresees_losses:
            return self._watch(base_pps) or self._burst(base_pps) or self._study_stalls(base_pps)
        return (
            self._look_for_trigger()
            or self._watch(base_pps)
            or self._burst(base_pps)
            or self._look_for_floor(base_pps)
            or self._approach(base_pps)
            or self._study_losses(base_pps)
            or self._study_stalls(base_pps)
        )

    def without_more_time(self, budget: Budget) -> Choice | GoalEnd:
        """What the search would have asked for does not fit: the validation at once, or the end."""
        base_pps = self.record.bracket.lower_pps
        if base_pps is not None and not self.record.proved:
            choice = self._validate(base_pps)
            if isinstance(choice, GoalEnd) or budget.allows(choice.ask, has_proof=False):
                return choice
        return self._end(budget.text)

    def try_minimum(self) -> Choice:
        """The last resort where no load could be tested."""
        why = "the loads above could not be tested"
        return self._search(self._plan.minimum_pps, "minimum", why)

    # Rules that look for the capacity.

    def _recover(self) -> Choice | None:
        """Rest a spent DUT until it carries again what it carried before."""
        if self.record.decline is not None:
            # What is left in the end is known; it is tried as it is.
            return None
        match self.record.spent.next():
            case None:
                return None
            case ("check", load_pps):
                why = "does the DUT carry again what it carried before it slowed down?"
                return self._search(load_pps, "recover", why)
            case ("rest", rest_s):
                why = "the DUT has not recovered"
                return self._search(self._plan.minimum_pps, "recover", why, rest_s)

    def _rest(self) -> Choice | None:
        record = self.record
        if not (record.recovers_slowly and record.last_was_overloaded):
            return None
        rest_s = _REST * self._plan.duration_s
        if self._rest_helped:
            rest_s = max(rest_s, self._long_rest_s())
        return self._rest_for(rest_s, "the DUT recovers slowly from overload")

    def _rest_for(self, rest_s: float, why: str) -> Choice:
        # Once after each overload, whatever comes of it.
        self.record.last_was_overloaded = False
        return self._search(self._plan.minimum_pps, "rest", why, rest_s)

    def _long_rest_s(self) -> float:
        return min(_LONG_REST_S, _LONG_REST_SHARE * self._plan.validation_s)

    def _rested_in_vain(self) -> bool:
        """Whether a load was not carried even after a long rest: it was no aftermath."""
        return any(self.record.bracket.bars(load_pps) for load_pps in self._rechecked)

    def _narrow(self) -> Choice | None:
        bracket = self.record.bracket
        if not bracket.is_narrow:
            aim = bracket.aim(self.record.tolerance)
            return self._search(aim, "bracket", "the capacity lies between the bounds")
        return self._recheck()

    def _recheck(self) -> Choice | None:
        """Try the upper end once more where something else than the load may have failed it."""
        bracket = self.record.bracket
        upper = bracket.upper
        if upper is None or upper.load_pps in self._rechecked:
            return None
        if bracket.is_upper_overshadowed and upper.load_pps not in self._rested:
            rest_s = _SHORT_REST * self._plan.duration_s
            if self._rest_helped or not self._rested_in_vain():
                rest_s = max(rest_s, self._long_rest_s())
            self._rested.add(upper.load_pps)
            return self._rest_for(rest_s, "a heavier overload came before the upper end")
        if bracket.is_upper_overshadowed or bracket.is_upper_older:
            self._rechecked.add(upper.load_pps)
            why = "the load failed after a heavier overload, or before a lower one was carried"
            return self._search(upper.load_pps, "recheck", why)
        return None

    def _search(
        self, load_pps: float, rule: str, why: str, duration_s: float | None = None
    ) -> Choice:
        asked_s = self.record.search_s if duration_s is None else duration_s
        ask = Ask("search", load_pps, asked_s, goal=self.name, early_abort=False)
        return Choice(ask, rule, why)

    # Rules that look for what short trials do not show.

    def _watch(self, base_pps: float) -> Choice | None:
        if self.record.watches or self._plan.watch_s <= self.record.search_s:
            return None
        why = "stalls show as latency peaks before they lose anything"
        if min(self._limits(base_pps), key=lambda each: each.load_pps).kind in _STALLED:
            # Nearer to the capacity, a queue that one has left adds to the next.
            base_pps = max(self._plan.minimum_pps, base_pps * (1.0 - _FAR))
        return self._watch_for(base_pps, self._plan.watch_s, "watch", why)

    def _study_decline(self) -> Choice | None:
        load_pps = self.record.tires_pps
        if load_pps is None or self._studied_decline:
            return None
        self._studied_decline = True
        why = "a longer trial did not carry what a short one had: how far does the capacity fall?"
        return self._watch_for(load_pps, self._plan.study_s, "study-decline", why)

    def _look_for_trigger(self) -> Choice | None:
        aim = trigger_to_look_for(self._knowledge)
        if self._triggers >= _MAX_TRIGGERS:
            return None
        if aim is None:
            return self._validate_for_trigger()
        self._triggers += 1
        why = "the DUT was slow for a while: does it become so at a lower load as well?"
        load_pps = max(aim[0], self._plan.minimum_pps)
        return self._watch_for(load_pps, aim[1], "look-for-trigger", why)

    def _validate_for_trigger(self) -> Choice | None:
        load_pps = trigger_to_validate(self._knowledge)
        if load_pps is None or self.record.failures >= self._plan.attempts:
            return None
        self._triggers += 1
        load_pps = max(load_pps, self._plan.minimum_pps)
        ask = Ask("validation", load_pps, self._plan.validation_s, goal=self.name)
        why = "the DUT was slow for a while: only hours tell whether it becomes so at a lower load"
        return Choice(ask, "validate-trigger", why)

    def _burst(self, base_pps: float) -> Choice | None:
        frames = burst_wanted(self._knowledge, base_pps)
        if frames is None:
            return None
        ask = Ask("burst", base_pps, self._plan.duration_s, goal=self.name, burst_frames=frames)
        return Choice(ask, "burst", "the longest stall may let more come than the buffer holds")

    def _end_at_floor(self) -> GoalEnd | None:
        floor = self._hopeless_floor()
        if floor is None:
            return None
        lowest_pps = self._knowledge.loss_rates()[0].load_pps
        return self._end(
            f"zero loss is not to be had: at any load about one frame in {1 / floor:,.0f} is lost, "
            f"as often at {format_pps(lowest_pps)} as above"
        )

    def _hopeless_floor(self) -> float | None:
        """Events of loss for each frame, where not even the minimum is likely to be free of it."""
        floor = loss_floor(self._knowledge.loss_rates())
        if floor is None or self.record.tolerance > 0.0:
            return None
        frames = self._plan.minimum_pps * self._plan.validation_s
        return floor if floor * frames > -math.log(self._plan.confidence) else None

    def _look_for_floor(self, base_pps: float) -> Choice | None:
        """Far below, where a queue would lose nothing, before following losses down."""
        rates, watch_s = self._knowledge.loss_rates(), self._plan.watch_s
        load_pps = base_pps / APART
        if self._looked_for_floor or not rates or load_pps < self._plan.minimum_pps:
            return None
        if rates[0].per_s * watch_s / APART < MIN_EVENTS:
            return None
        self._looked_for_floor = True
        why = "losses without a stall: are they as frequent, frame for frame, at any load?"
        return self._watch_for(load_pps, watch_s, "look-for-floor", why)

    def _approach(self, base_pps: float) -> Choice | None:
        """Watch where losses are expected to be few."""
        rates, watch_s = self._knowledge.loss_rates(), self._plan.watch_s
        if not rates or self._approaches >= _MAX_APPROACHES:
            return None
        if rates[0].per_s * watch_s < _MANY_EVENTS:
            return None
        load_pps = max(self._plan.minimum_pps, min(self._approach_pps(rates), base_pps))
        self._approaches += 1
        why = "losses without a stall: how fast do they become rarer?"
        return self._watch_for(load_pps, watch_s, "approach", why)

    def _approach_pps(self, rates: Sequence[LossRate]) -> float:
        """Halfway to a load that was watched in vain; else where the line says."""
        lowest_pps, plan = rates[0].load_pps, self._plan
        clean_pps = max(
            (
                tried.load_pps
                for tried in self._knowledge.trials
                if tried.asked.duration_s >= plan.watch_s and tried.load_pps < lowest_pps
            ),
            default=None,
        )
        if clean_pps is not None:
            return (clean_pps + lowest_pps) / 2
        load_pps = loss_free_pps(rates, _FEW_EVENTS / plan.watch_s, plan.width)
        step_pps = lowest_pps * (1.0 - plan.width * 2.0**self._approaches)
        # Two rates near the capacity may be much alike, and their line reaches nowhere.
        return max(load_pps or step_pps, lowest_pps * (1.0 - _FAR))

    def _study_losses(self, base_pps: float) -> Choice | None:
        """A long way down on a line through two rates is a long way to go wrong."""
        limit = min(self._limits(base_pps), key=lambda each: each.load_pps)
        if self._studied_losses or limit.kind != "losses":
            return None
        rates, study_s = self._knowledge.loss_rates(), self._plan.study_s
        if limit.load_pps > rates[0].load_pps * (1.0 - _FAR):
            return None
        self._studied_losses = True
        load_pps = loss_free_pps(rates, _FEW_EVENTS / study_s, self._plan.width) or limit.load_pps
        load_pps = max(self._plan.minimum_pps, min(load_pps, base_pps))
        why = f"far below the lowest load that lost anything: {limit.text}"
        return self._watch_for(load_pps, study_s, "study-losses", why)

    def _study_stalls(self, base_pps: float) -> Choice | None:
        """A quarter of an hour of watching for a forecast that may save hours."""
        limit = min(self._limits(base_pps), key=lambda each: each.load_pps)
        load_pps = max(limit.load_pps, self._plan.minimum_pps)
        near = any(abs(load_pps - each) <= _STUDIED * each for each in self._studied_stalls)
        if near or len(self._studied_stalls) >= _MAX_STUDIES or limit.kind not in _STALLED:
            return None
        self._studied_stalls.append(load_pps)
        why = f"what a validation will see is foretold by more than a minute: {limit.text}"
        return self._watch_for(load_pps, self._plan.study_s, "study-stalls", why)

    def _watch_for(self, load_pps: float, duration_s: float, rule: str, why: str) -> Choice:
        ask = Ask("watch", load_pps, duration_s, goal=self.name, early_abort=False)
        return Choice(ask, rule, why)

    # The rule that proves it.

    def _validate(self, base_pps: float) -> Choice | GoalEnd:
        limit = min(self._limits(base_pps), key=lambda each: each.load_pps)
        load = max(limit.load_pps, self._plan.minimum_pps)
        best = max(self.record.proved, default=None)
        lower = best is not None and self._passed_by_luck(best, limit.load_pps)
        if best is not None and not (lower or self._is_worth_climbing(best, load)):
            return self._end("passed its validation", limit)
        if self.record.failures >= self._plan.attempts:
            return self._end(f"{self.record.failures} validations failed", limit)
        if limit.load_pps < self._plan.minimum_pps and self._failed_at_minimum():
            return self._end("even at the minimum, validation failed", limit)
        # Asked again, the same validation would tell the same: nothing else would be asked, ever.
        if any(abs(load - each) <= self._plan.width / 2 * load for each in self.record.proved):
            return self._end("passed its validation", limit)
        ask = Ask("validation", load, self._plan.validation_s, goal=self.name)
        return Choice(ask, f"validate-{limit.kind}", limit.text)

    def _is_worth_climbing(self, passed_pps: float, load_pps: float) -> bool:
        """Whether a forecast is so much higher than what passed that it is validated as well.

        What passed for another goal's sake was not chosen for this one.
        """
        own = self.record.asked_for_and_passed
        if len(own) >= _MAX_PROOFS:
            return False
        enough = _WORTH_A_CLIMB if passed_pps in own else self._plan.width
        return load_pps > passed_pps * (1.0 + enough)

    def _passed_by_luck(self, passed_pps: float, forecast_pps: float) -> bool:
        """Whether what its own validation showed says that a load is too high to pass again.

        Then the forecast, lower by as much as is worth a climb, is validated as well.
        """
        if len(self.record.asked_for_and_passed) >= _MAX_PROOFS:
            return False
        return passed_pps * (1.0 - _WORTH_A_CLIMB) > forecast_pps

    def _failed_at_minimum(self) -> bool:
        return any(
            tried.load_pps <= self._plan.minimum_pps and tried.failed(self.name)
            for tried in self._knowledge.trials
        )

    def _limits(self, base_pps: float) -> list[Limit]:
        record = self.record
        if record.decline is None:
            limits = [Limit(base_pps, "capacity", self._capacity_text(base_pps))]
        else:
            fall = 1.0 - base_pps / record.decline.before_pps
            text = (
                f"a capacity that falls by {format_ratio(fall)} in "
                f"{format_duration(self._plan.validation_s)} of load"
            )
            # What was extrapolated is not known as well as what was bracketed.
            limits = [Limit(base_pps * (1.0 - self._plan.width), "decline", text)]
        seen = (record.failure_limit, record.watch_limit, record.lasting_limit())
        limits += [each for each in seen if each is not None]
        if record.looks_for_no_loss:
            limits += self._zero_loss_limits()
        else:
            limits += self._allowed_loss_limits(base_pps)
        return limits

    def _capacity_text(self, base_pps: float) -> str:
        bracket = self.record.bracket
        if base_pps < bracket.maximum_pps:
            return "the capacity of the DUT"
        if bracket.is_limited_by_tester:
            return "what the tester can offer"
        return "the maximum of the search"

    def _zero_loss_limits(self) -> list[Limit]:
        limits: list[Limit] = []
        knowledge = self._knowledge
        phases, stalls = slow_phase_limit(knowledge), stall_limit(knowledge)
        if phases is not None and phases.kind == "brief-phase" and not stalls_outlast(knowledge):
            # The waits are those of the phases, which leave something of the capacity.
            stalls = None
        limits += [each for each in (phases, stalls) if each is not None]
        load_pps = loss_free_pps(knowledge.loss_rates(), knowledge.rare_per_s(), self._plan.width)
        if load_pps is not None:
            text = f"losses without a stall, which become rare enough at {format_pps(load_pps)}"
            limits.append(Limit(load_pps, "losses", text))
        return limits

    def _allowed_loss_limits(self, base_pps: float) -> list[Limit]:
        """What absences lose together; and once a slow phase has failed it, what phases do."""
        knowledge, allowed = self._knowledge, self.record.tolerance
        limits: list[Limit | None] = []
        if self.record.slow_phases_fail_it:
            by_sum = allowed_phases_limit(knowledge, allowed)
            found = [each for each in (slow_phase_limit(knowledge), by_sum) if each is not None]
            limits.append(max(found, key=lambda each: each.load_pps, default=None))
        if not self.record.slow_phases_fail_it or stalls_outlast(knowledge):
            limits.append(allowed_loss_limit(knowledge, allowed, base_pps))
        return [each for each in limits if each is not None]

    # How it ends.

    def _end(self, reason: str, limit: Limit | None = None) -> GoalEnd:
        best = self._most_believed(limit)
        if best is None:
            return GoalEnd(self.name, None, reason)
        notes = end_notes(limit, best, max(self.record.proved))
        return GoalEnd(self.name, best, reason, self._limited_by(best), notes=notes)

    def _most_believed(self, limit: Limit | None) -> float | None:
        """The highest load that passed and is not far above the forecast; else the lowest."""
        proved = self.record.proved
        if limit is None:
            return max(proved, default=None)
        likely = (each for each in proved if each * (1.0 - _WORTH_A_CLIMB) <= limit.load_pps)
        return max(likely, default=min(proved, default=None))

    def _limited_by(self, best: float) -> LimitedBy:
        upper = self.record.bracket.upper
        if upper is None:
            bracket = self.record.bracket
            at_top: LimitedBy = "tester" if bracket.is_limited_by_tester else "maximum"
            return at_top if best >= bracket.maximum_pps else "dut"
        return "tester" if upper.by_tester and not self.record.failures else "dut"

    def _why_none(self) -> str:
        upper = self.record.bracket.upper
        if upper is not None and upper.by_tester:
            return why_untestable(self._plan.minimum_pps)
        return f"even at the minimum, {format_pps(self._plan.minimum_pps)}, no trial passed"
