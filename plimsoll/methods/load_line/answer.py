"""What is said of a load line, on its page and on the terminal: limits, goals, bounds."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.record.results.result import GoalResult, Result
from plimsoll.search.strategy.goal_end import LimitedBy
from plimsoll.text.units import format_duration, format_pps

# A load line is the DUT's capacity only where the DUT is what failed above it.
LIMIT_SENTENCES: dict[LimitedBy, str] = {
    "dut": "Limited by the DUT: it failed above this load.",
    "platform": "Limited by the platform: above this load the DUT failed for want of its CPU.",
    "tester": "Limited by the tester: it cannot test above this load. The DUT may carry more.",
    "maximum": "The highest load that was searched. The DUT may carry more.",
}


@dataclass(frozen=True, slots=True)
class GoalLine:
    """What was found for one of several goals: its load per direction, or that there is none."""

    name: str
    load: str
    said: str


def goal_lines(result: Result | None) -> tuple[GoalLine, ...]:
    """Every goal, where there are several."""
    if result is None or len(result.goals) < 2:
        return ()
    return tuple(GoalLine(goal.name, _load_of(goal), goal_said(goal)) for goal in result.goals)


def diagnosed(result: Result) -> tuple[str, ...]:
    """Why there is no load line where the tester is the reason, and what to do."""
    if result.diagnosis is None:
        return ()
    reason = result.reason or "no trial could be tested"
    said = (f"The tester, not the DUT, is the reason: {reason}", *result.diagnosis.sentences)
    return (*(f"{each}." for each in said), f"What to do: {result.diagnosis.remedy}.")


def ceiling_said(result: Result | None) -> tuple[str, ...]:
    """What the tester could offer, where that is what limits the load line."""
    if result is None or result.ceiling is None or result.limited_by != "tester":
        return ()
    ceiling = result.ceiling
    return (
        f"On these ports the tester offered at most {format_pps(ceiling.offered_pps)} per "
        f"direction of {format_pps(ceiling.intended_pps)} (trial {ceiling.trial}).",
    )


def platform_said(result: Result | None) -> tuple[str, ...]:
    """What took the DUT's CPU, where that is what limits the load line."""
    return () if result is None or result.platform is None else (result.platform.sentence,)


def unwatched_said(result: Result | None) -> tuple[str, ...]:
    """Where absences of the DUT were not watched, and why."""
    return () if result is None else result.unwatched


def _load_of(goal: GoalResult) -> str:
    return "none" if goal.load_line is None else format_pps(goal.load_line.pps_per_direction)


def goal_said(goal: GoalResult) -> str:
    """Why a goal's load is not higher, or why there is none."""
    if goal.load_line is None:
        return goal.reason or ""
    said = [LIMIT_SENTENCES[goal.limited_by]] if goal.limited_by else []
    if goal.conditional_pps is not None:
        said.append(f"Conditional throughput (RFC 9971): {format_pps(goal.conditional_pps)}.")
    if goal.irregular:
        said.append("Irregular: a lower load failed.")
    return " ".join(said)


def events_bound(goal: GoalResult) -> tuple[str, ...]:
    """What a proof without loss says of the rate of events that lose frames."""
    if goal.loss_events_per_hour_below is None:
        return ()
    return (
        "No frame was lost: events that lose any are rarer than one in "
        f"{format_duration(3600 / goal.loss_events_per_hour_below)} (95 %, by 3/T).",
    )
