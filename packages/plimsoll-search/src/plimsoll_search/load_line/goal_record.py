"""What the trials so far say of one goal."""

from __future__ import annotations

from ..strategy.ask import Ask
from ..text.units import format_duration, format_pps
from .allowed_loss.allowed_loss_limit import allowed_loss_limit
from .bracket import Barred, Bracket
from .decline import Decline, decline_of
from .first_loss import lasted, lasting_pps
from .hazard import loss_free_pps
from .knowledge import Knowledge
from .limit import Limit
from .overload import Spent
from .plan import GoalPlan
from .stalls.stall_limit import stall_limit
from .stalls.stalls_seen import stalls_of
from .tried import Tried

# The rules that loss breaks: that of its criterion, and the same in a window of a long trial.
_LOSS = ("loss-ratio", "windows")

# Of a goal that allows some loss: so many steps down that no forecast says are in vain before it
# is looked for without any.
_STEPS_WITH_LOSS = 7


class GoalRecord:
    """Takes every trial of the search, whatever goal it was asked for.

    `spent` is set once a trial has left the DUT with less than it had, until it is rested.
    `search_s` is how long a trial has to be to show what fails this goal. `tires_pps` is a
    load that a short trial carried and a longer one did not, until that was looked into.
    `proved` are all loads that passed a validation, `asked_for_and_passed` those of them that
    were chosen for this goal.
    """

    def __init__(self, goal: GoalPlan, knowledge: Knowledge) -> None:
        self._goal = goal
        self._plan = knowledge.plan
        self._knowledge = knowledge
        self.bracket = Bracket(self._plan.minimum_pps, self._plan.maximum_pps, self._plan.width)
        if self._plan.reach_pps is not None:
            self.bracket.limit_to(self._plan.reach_pps)
        self.search_s = self._plan.duration_s
        self.watches = 0
        self.failures = 0
        self._steps = 0
        self.slow_phases_fail_it = False
        self._unexplained = 0
        self.failure_limit: Limit | None = None
        self.watch_limit: Limit | None = None
        self.tires_pps: float | None = None
        self.decline: Decline | None = None
        self.proved: list[float] = []
        self.asked_for_and_passed: list[float] = []
        self.spent = Spent()
        self.untestable: str | None = None
        self.last_was_overloaded = False
        self.recovers_slowly = False

    @property
    def tolerance(self) -> float:
        """The share of frames that may be lost: as the goal says, or as passing trials show."""
        if self._goal.tolerance is not None:
            return self._goal.tolerance
        return max(
            (
                tried.evidence.loss_ratio
                for tried in self._knowledge.trials
                if tried.passed(self._goal.name)
            ),
            default=0.0,
        )

    @property
    def looks_for_no_loss(self) -> bool:
        """Whether the load is looked for at which nothing is lost.

        Where some loss is allowed that may be far too low: it is done once stepping down was in
        vain.
        """
        return self.tolerance == 0.0 or self._steps >= _STEPS_WITH_LOSS

    @property
    def foresees_losses(self) -> bool:
        """Whether every event of loss is worth to be looked into; a slow phase is, at any limit."""
        return self.looks_for_no_loss or self.slow_phases_fail_it

    def learn(self, tried: Tried, number: int) -> None:
        """Take what a trial said; `number` counts the search's trials."""
        name, phase = self._goal.name, tried.asked.phase
        if phase == "burst":
            self.last_was_overloaded = True
        if phase == "burst" or not (tried.passed(name) or tried.failed(name)):
            return
        capacity = self._knowledge.overload_capacity_pps(tried)
        if self.spent.judge(tried, is_overloaded=capacity is not None):
            return
        self._note_spent(tried, capacity)
        self._note_tiring(tried, capacity)
        if phase == "watch":
            self.watches += 1
            if tried.failed(name):
                self._note_failed_watch(tried)
        if phase == "validation" and tried.passed(name):
            self._note_proof(tried)
        if phase == "validation" and tried.failed(name):
            self._learn_failure(tried, capacity, number)
        elif self._too_high(tried, capacity):
            self._bar(tried, capacity, number)
        else:
            self.bracket.carry(tried.load_pps, number)
        # From an overload at the minimum there is no lower load to rest at.
        self.last_was_overloaded = capacity is not None and not self._is_minimum(tried)
        self._note_slow_recovery()

    def _note_proof(self, tried: Tried) -> None:
        self.proved.append(tried.load_pps)
        if tried.asked.goal == self._goal.name:
            self.asked_for_and_passed.append(tried.load_pps)

    def _is_minimum(self, tried: Tried) -> bool:
        return tried.load_pps <= self._plan.minimum_pps

    def could_not_test(self, asked: Ask, number: int) -> None:
        """Every try of a trial that was asked for this goal was invalid."""
        if asked.phase == "validation":
            self.untestable = (
                f"{asked.attempt} consecutive validations at {format_pps(asked.load_pps)} were "
                "invalid because of the tester: whether the load holds is unknown"
            )
        self.bracket.bar(Barred(asked.load_pps, None, number, by_tester=True))

    def _too_high(self, tried: Tried, capacity: float | None) -> bool:
        """Whether a trial says that the load is beyond what this goal allows for good."""
        if capacity is not None and 1.0 - capacity / tried.load_pps > self.tolerance:
            return not self._knowledge.slow_all_along(tried)
        if not tried.failed(self._goal.name):
            return False
        if self._broke_more_than_loss(tried):
            return True
        # A single event of loss in a short trial says little of a share over hours.
        long_enough = tried.asked.duration_s >= self._plan.watch_s
        by_more = capacity is not None or not self._knowledge.is_explained_by_stalls(tried)
        return self.tolerance > 0.0 and by_more and (long_enough or capacity is not None)

    def _broke_more_than_loss(self, tried: Tried) -> bool:
        rules = tried.told.rules.get(self._goal.name, ())
        return not tried.evidence.lost or any(rule not in _LOSS for rule in rules)

    def _bar(self, tried: Tried, capacity: float | None, number: int) -> None:
        if capacity is None and self.tolerance > 0.0 and tried.evidence.lost:
            capacity = tried.load_pps * (1.0 - tried.evidence.loss_ratio)
        self.bracket.bar(Barred(tried.load_pps, capacity, number, in_wake=self.last_was_overloaded))
        if tried.asked.phase == "watch" and capacity is None:
            # What only a long trial shows must be looked for by long trials.
            self.search_s = self._plan.watch_s

    def _note_failed_watch(self, tried: Tried) -> None:
        """What did not hold for a minute need not be tried for hours.

        Unless it is a stall that takes more than is allowed of a minute and less of hours.
        """
        if self.tolerance > 0.0 and self._knowledge.is_explained_by_stalls(tried):
            return
        below = tried.load_pps * (1.0 - self._plan.width)
        if self.watch_limit is None or below < self.watch_limit.load_pps:
            text = f"a watch at {format_pps(tried.load_pps)} that failed"
            self.watch_limit = Limit(below, "failure", text)

    def _note_spent(self, tried: Tried, capacity: float | None) -> None:
        """What ended with less capacity than it began with may have left the DUT so."""
        if self._is_minimum(tried):
            return
        if self._knowledge.slowed_suddenly(tried):
            self.spent.begin(tried.load_pps)
        elif self._knowledge.ended_slow(tried):
            self._rest_until_carried(tried)
        elif tried.asked.phase != "search" and (
            self._knowledge.declines(tried)
            or (capacity is not None and self.bracket.carried(tried.load_pps))
        ):
            # Little by little it has fallen to just below this load.
            self._rest_until_carried(tried)

    def _rest_until_carried(self, tried: Tried) -> None:
        """Until what is two widths below is carried again: at its edge a load fails by chance."""
        below_pps = tried.load_pps * (1.0 - 2.0 * self._plan.width)
        self.spent.begin(max(self._plan.minimum_pps, below_pps))

    def _note_tiring(self, tried: Tried, capacity: float | None) -> None:
        """A load that short trials carry and longer ones do not: a capacity that falls."""
        overloaded = capacity is not None or self._knowledge.declines(tried)
        if tried.asked.phase == "search" or not overloaded:
            return
        if self._knowledge.slow_all_along(tried):
            self.tires_pps = None
            return
        if tried.asked.duration_s >= self._plan.study_s and tried.asked.phase == "watch":
            self.decline, self.tires_pps = decline_of(tried), None
        elif self.decline is None and self.bracket.carried(tried.load_pps):
            self.tires_pps = tried.load_pps

    def _note_slow_recovery(self) -> None:
        if not self.recovers_slowly and self._knowledge.overload_slows():
            self.recovers_slowly = True
            self.bracket.forget_wakes()

    def _learn_failure(self, tried: Tried, capacity: float | None, number: int) -> None:
        self.failures += 1
        if self._broke_more_than_loss(tried):
            self._step_below(tried, "a criterion other than loss")
        elif self._slow_phases_broke_it(tried):
            self.slow_phases_fail_it = True
            below = tried.load_pps * (1.0 - self._plan.width / 2)
            self._limit(below, tried, "a phase in which the DUT was slow")
        elif capacity is not None or self._knowledge.declines(tried):
            self.bracket.bar(Barred(tried.load_pps, capacity, number))
            if self.decline is not None:
                until_s = tried.evidence.first_loss_s or tried.evidence.sending_s
                self.decline = self.decline.after(tried.load_pps, until_s)
            self._step_below(tried, "a loss that did not end")
        elif not self.foresees_losses:
            self._learn_lost_too_much(tried)
        elif self._knowledge.has_unexplained_losses(tried):
            self._last_below(tried, "losses without a stall")
        else:
            self._learn_stall(tried)

    def _slow_phases_broke_it(self, tried: Tried) -> bool:
        """Whether it had any; where some loss is allowed, that lost most of its frames."""
        knowledge = self._knowledge
        if self.tolerance > 0.0:
            return knowledge.is_explained_by_phases(tried)
        return knowledge.has_slow_phases(tried)

    def _learn_lost_too_much(self, tried: Tried) -> None:
        """The forecast of what absences lose together says how far down, if it foretells that."""
        limit = allowed_loss_limit(self._knowledge, self.tolerance, tried.load_pps)
        if limit is None or limit.load_pps >= tried.load_pps:
            self._step_below(tried, "more loss than is allowed")
            return
        below = tried.load_pps * (1.0 - self._plan.width / 2)
        self._limit(below, tried, "what stalls lost together")

    def _learn_stall(self, tried: Tried) -> None:
        """The new forecast says how far down; should it not, a step is as good as any."""
        limit = stall_limit(self._knowledge)
        if limit is None or limit.load_pps >= tried.load_pps:
            self._last_below(tried, _stall_text(tried))
        else:
            below = tried.load_pps * (1.0 - self._plan.width / 2)
            self._limit(below, tried, _stall_text(tried))

    def lasting_limit(self) -> Limit | None:
        """A load that is likely to last, where nothing says what made a validation fail."""
        plan, knowledge = self._plan, self._knowledge
        line = loss_free_pps(knowledge.loss_rates(), knowledge.rare_per_s(), plan.width)
        # A line through how often two loads lose says more, until what it foretold has failed.
        if not self._unexplained or (line is not None and self._unexplained == 1):
            return None
        seen = lasted(knowledge.carried(), plan.study_s)
        load_pps = lasting_pps(seen, plan.validation_s, plan.confidence)
        if load_pps is None:
            return None
        text = (
            "the time that loads lasted until their first loss, which nothing explains: one that "
            f"passes is likely to pass again up to {format_pps(load_pps)}"
        )
        return Limit(load_pps, "failure", text)

    def _last_below(self, tried: Tried, cause: str) -> None:
        """Nothing says how far down, but all that was tried until its first loss together."""
        self._unexplained += 1
        self._limit(tried.load_pps * (1.0 - self._plan.width / 2), tried, cause)

    def _step_below(self, tried: Tried, cause: str) -> None:
        """Nothing says how far down, so further each time."""
        share = min(0.5, self._plan.width * 2.0**self._steps)
        self._steps += 1
        self._limit(tried.load_pps * (1.0 - share), tried, cause)

    def _limit(self, load_pps: float, tried: Tried, cause: str) -> None:
        if self.failure_limit is not None and self.failure_limit.load_pps <= load_pps:
            return
        at_s = tried.evidence.first_loss_s or tried.evidence.sending_s
        text = (
            f"a validation at {format_pps(tried.load_pps)} that failed after "
            f"{format_duration(at_s)} by {cause}"
        )
        self.failure_limit = Limit(load_pps, "failure", text)


def _stall_text(tried: Tried) -> str:
    """The longest stall that lost frames, by its cause where that is known."""
    lossy = (stall for stall in stalls_of(tried) if stall.lost)
    longest = max(lossy, key=lambda stall: stall.length_s, default=None)
    cause = None if longest is None else longest.cause
    return "a stall" if cause is None else f"a stall by {cause.text}"
