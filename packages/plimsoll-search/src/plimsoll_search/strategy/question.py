"""One load, asked about until there is an answer, or until the tester proves unable to test it.

A question is a value: being told a trial gives the next question, or the answer.

Loads that the tester cannot test: one policy for every strategy. An offered rate far short of the
load is the tester's ceiling, which no repetition lifts: the search goes down at once to what was
offered. Everything else that makes a trial invalid may pass, so the trial is run again. After a
few loads in a row that could not be tested, a search settles for the highest load that passed;
where none has, it tries the minimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ..text.units import format_pps
from .ask import Ask, Phase, Told

# What to make of a load whose trials stay invalid by a rule. "retry": it cannot be tested;
# "fail": it counts as failed; "quit": the search ends. All that after the retries.
InvalidAction = Literal["retry", "fail", "quit"]

# How often the same is asked; more than anybody has the patience for is a mistake.
RepeatField = Annotated[int, Field(ge=1, le=1000)]

# What came of a question; "untestable" where its trials stayed invalid.
Answer = Literal["pass", "fail", "untestable", "quit"]


@dataclass(frozen=True, slots=True)
class TrialPolicy:
    """How the trials of one phase are asked for.

    All of `repeat` trials have to pass; `retries` more follow an invalid one. `actions`
    are by the rule that made the last of those invalid. Where `run_all_repetitions` is set,
    trials go on after a failed one, and none ends early: the load is to be measured, not only
    judged. Without `is_validation` a load that passed is tested in another phase before it
    counts.
    """

    phase: Phase
    duration_s: float
    retries: int
    repeat: int = 1
    actions: Mapping[str, InvalidAction] = field(default_factory=dict)
    run_all_repetitions: bool = False
    is_validation: bool = False

    def goes_below(self, rule: str) -> bool:
        """Whether a load that stays invalid by the rule only sends the search below it."""
        return self.actions.get(rule, "retry") == "retry"


@dataclass(frozen=True, slots=True)
class Question:
    """Whether `load_pps` passes, and how far the asking has come."""

    policy: TrialPolicy
    load_pps: float
    repetition: int = 1
    attempt: int = 1
    failed: bool = False

    def ask(self) -> Ask:
        """The next trial."""
        return Ask(
            self.policy.phase,
            self.load_pps,
            self.policy.duration_s,
            attempt=self.attempt,
            repetition=self.repetition,
            early_abort=not self.policy.run_all_repetitions,
            comes_again=not self.policy.is_validation or self.repetition < self.policy.repeat,
        )

    def told(self, told: Told) -> Question | Answer:
        """What follows from the trial asked for."""
        match told.verdict():
            case "invalid":
                return self._after_invalid(told.rules.get(self.ask().goal, ()))
            case "fail" if not self.policy.run_all_repetitions:
                return "fail"
            case verdict:
                return self._after_repetition(self.failed or verdict == "fail")

    def _after_invalid(self, rules: tuple[str, ...]) -> Question | Answer:
        if self.attempt <= self.policy.retries:
            return replace(self, attempt=self.attempt + 1)
        actions = {self.policy.actions.get(rule, "retry") for rule in rules}
        if "quit" in actions:
            return "quit"
        if self.failed or "fail" in actions:
            return "fail"
        return "untestable"

    def _after_repetition(self, failed: bool) -> Question | Answer:
        if self.repetition < self.policy.repeat:
            return replace(self, repetition=self.repetition + 1, attempt=1, failed=failed)
        return "fail" if failed else "pass"


def why_quit(load_pps: float, rules: Sequence[str]) -> str:
    """Why a search ended that was asked to quit, in a sentence."""
    return (
        f"trials at {format_pps(load_pps)} stayed invalid ({', '.join(rules)}), and the "
        "experiment is set to quit in that case"
    )


def why_unproven(validation: Question) -> str:
    """Why a search ended whose validation stayed invalid, in a sentence."""
    return (
        f"{validation.attempt} consecutive validations at {format_pps(validation.load_pps)} "
        "were invalid because of the tester: whether the load holds is unknown"
    )


# What a tester offers when it gives all it has differs from trial to trial: two in a row on
# shared CPUs came to 5.89 and 5.97 Mpps. Less than half of the 5 % by which the rate of a trial
# may be off (tester.rate_tolerance), so that the rest is left for a worse second.
_MARGIN = 0.02
# So many loads in a row that cannot be tested are not about the load.
_MAX_IN_A_ROW = 4


class UntestableStreak:
    """Counts the loads in a row that could not be tested."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def renew(self) -> None:
        """A load was tested, or the search settled."""
        self._in_a_row = 0

    def lasts(self) -> bool:
        """Whether to go on as before, now that another load could not be tested."""
        self._in_a_row += 1
        return self._in_a_row < _MAX_IN_A_ROW


def sustainable_pps(offered_pps: float) -> float:
    """What a tester can offer in every trial that offered so much when it gave all it had."""
    return offered_pps * (1 - _MARGIN)


def within(reach_pps: float | None, minimum_pps: float, maximum_pps: float) -> float | None:
    """The reach as a bound of a search: never below the minimum; None where it bounds nothing."""
    if reach_pps is None or reach_pps >= maximum_pps:
        return None
    return max(reach_pps, minimum_pps)


def reach_of(asked: Ask, told: Told, minimum_pps: float) -> float | None:
    """The load to go down to where the trial met the tester's ceiling; None where it did not.

    At the minimum there is nothing to go down to, so its trials are run again like any.
    """
    if told.verdict(asked.goal) != "invalid" or told.offered_at_most_pps is None:
        return None
    if asked.load_pps <= minimum_pps:
        return None
    return max(minimum_pps, sustainable_pps(told.offered_at_most_pps))


def why_untestable(minimum_pps: float) -> str:
    """Why a search ended that could not even test its minimum, in a sentence."""
    return f"even at the minimum, {format_pps(minimum_pps)}, no trial could be tested"
