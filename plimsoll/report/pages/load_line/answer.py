"""The answer, before anything else: the load line, its proof, and each criterion's measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.record.results.goal_end import LimitedBy
from plimsoll.record.results.result import GoalResult, LoadLine, Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.parts.finding_lines import FindingLine, criterion_lines
from plimsoll.report.parts.offered import compared_loads, offered_said
from plimsoll.text.units import format_duration, format_pps

# A load line is the DUT's capacity only where the DUT is what failed above it.
LIMIT_SENTENCES: dict[LimitedBy, str] = {
    "dut": "Limited by the DUT: it failed above this load.",
    "platform": "Limited by the platform: above this load the DUT failed for want of its CPU.",
    "tester": "Limited by the tester: it cannot test above this load. The DUT may carry more.",
    "maximum": "The highest load that was searched. The DUT may carry more.",
}
# Without a validation the load line rests on its own trial.
_PROOFS = {"validation": "validation", "search": "its trial, not validated"}
# Zero events in N samples: the true rate lies below 3/N with 95 % confidence.
_ZERO_EVENTS_BOUND = 3.0


@dataclass(frozen=True, slots=True)
class GoalLine:
    """What was found for one of several goals: its load per direction, or that there is none."""

    name: str
    load: str
    said: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the top of the page says. `value` is empty when there is no load line yet."""

    heading: str
    value: str
    unit: str
    facts: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    criteria: tuple[FindingLine, ...]
    criteria_of: str
    holds: bool
    goals: tuple[GoalLine, ...] = ()


def answer(data: RunData) -> Answer:
    """The load line with its proof; or why there is none, be it the DUT or a run cut short.

    A `plimsoll trial` searches none: its answer is its verdict.
    """
    line = data.result.load_line if data.result else None
    criteria = criterion_lines(data)
    criteria_of = _measured_in(data.focus)
    if data.single:
        heading, sentences = _single(data)
        return Answer(heading, "", "", (), sentences, criteria, criteria_of, holds=False)
    if data.result is not None and data.result.diagnosis is not None:
        # What criteria a trial happened to meet that says nothing of the DUT is no news.
        goals, sentences = _goals(data.result), diagnosed(data.result)
        return Answer("No load line: could not test", "", "", (), sentences, (), "", False, goals)
    if line is None:
        sentences = _without_line(data)
        heading = "No load line" if data.finished else "No load line yet"
        goals = _goals(data.result)
        return Answer(heading, "", "", (), sentences, criteria, criteria_of, False, goals)
    value, unit = format_pps(line.pps_per_direction).split(" ")
    return Answer(
        heading="Load line",
        value=value,
        unit=f"{unit} per direction",
        facts=_facts(line, data),
        sentences=(
            *_limit(data),
            *ceiling_said(data.result),
            *platform_said(data.result),
            *offered_said(data.result, data.focus),
            *_notes(data.result),
            *_proof(data.focus),
        ),
        criteria=criteria,
        criteria_of=criteria_of,
        holds=True,
        goals=_goals(data.result),
    )


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
        f"direction of {format_pps(ceiling.asked_pps)} (trial {ceiling.trial}).",
    )


def platform_said(result: Result | None) -> tuple[str, ...]:
    """What took the DUT's CPU, where that is what limits the load line."""
    return () if result is None or result.platform is None else (result.platform.sentence,)


def _goals(result: Result | None) -> tuple[GoalLine, ...]:
    """Every goal, where there are several."""
    if result is None or len(result.goals) < 2:
        return ()
    return tuple(GoalLine(goal.name, _load_of(goal), goal_said(goal)) for goal in result.goals)


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


def _notes(result: Result | None) -> tuple[str, ...]:
    """What the search knows of the limit, and what the proof bounds."""
    first = result.goals[0] if result and result.goals else None
    return () if first is None else (*first.notes, *events_bound(first))


def events_bound(goal: GoalResult) -> tuple[str, ...]:
    """What a proof without loss says of the rate of events that lose frames."""
    if goal.loss_events_per_hour_below is None:
        return ()
    return (
        "No frame was lost: events that lose any are rarer than one in "
        f"{format_duration(3600 / goal.loss_events_per_hour_below)} (95 %, by 3/T).",
    )


def _single(data: RunData) -> tuple[str, tuple[str, ...]]:
    """The heading and the sentences of the page of a `plimsoll trial`."""
    deaths = tuple(f"Died: {death}." for death in data.deaths)
    if not data.trials:
        return "One trial, not ended", ("It was started and has no verdict.", *deaths)
    trial = data.trials[-1]
    heading = f"One trial at {format_pps(trial.load_pps)}: {trial.verdict}"
    reasons = tuple(dict.fromkeys(finding.text for finding in trial.reasons))
    said = "It was judged by itself: no load line was searched."
    loads = _loads_of(trial)
    return heading, (
        said,
        *loads,
        *(f"{reason}." for reason in reasons),
        _order_said(trial),
        *deaths,
    )


def _loads_of(trial: TrialRecord) -> tuple[str, ...]:
    """What it offered of what was intended; none without a rate."""
    if trial.offered_pps is None:
        return ()
    least = trial.evidence.least_offered if trial.evidence else None
    return (f"{compared_loads(trial.load_pps, trial.offered_pps, least)}.",)


def format_bps(bps: float) -> str:
    """For people: "1.843 Gbit/s", four digits."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if bps >= factor * 0.99995:
            return f"{bps / factor:.4g} {prefix}bit/s"
    return f"{bps:.4g} bit/s"


def _facts(line: LoadLine, data: RunData) -> tuple[tuple[str, str], ...]:
    sizes = ", ".join(str(size) for size in line.frame_sizes)
    directions = "both directions" if line.directions == 2 else f"{line.directions} direction(s)"
    exact = f"{line.pps_per_direction:,.3f}".rstrip("0").rstrip(".")
    facts = [
        (f"{exact} pps", "exactly, per direction, as offered"),
        *_intended(line),
        (format_pps(line.total_pps), f"in {directions}"),
        (format_bps(line.l1_bps_per_direction), "L1 per direction"),
        (format_bps(line.l2_bps_per_direction), "L2 per direction"),
        (f"{sizes} B", "frame size, with FCS"),
    ]
    if line.percent_of_line_rate is not None:
        facts.insert(-2, (f"{line.percent_of_line_rate:.4g} %", "of line rate"))
    if data.result is not None and data.result.validation is not None:
        validation = data.result.validation
        length = format_duration(validation.duration_s)
        facts.append((length, f"{_PROOFS[validation.phase]}: {validation.verdict}"))
    return tuple(facts)


def _intended(line: LoadLine) -> list[tuple[str, str]]:
    intended_pps = line.intended_pps_per_direction
    return [] if intended_pps is None else [(format_pps(intended_pps), "intended, per direction")]


def _limit(data: RunData) -> tuple[str, ...]:
    limited_by = data.result.limited_by if data.result else None
    return (LIMIT_SENTENCES[limited_by],) if limited_by else ()


def _proof(trial: TrialRecord | None) -> tuple[str, ...]:
    if trial is None:
        return ()
    received = sum(stream.received - stream.duplicate for stream in trial.streams)
    lost = sum(stream.lost for stream in trial.streams)
    length = format_duration(trial.sending_s)
    if lost == 0 and received:
        frames = f"{received / _ZERO_EVENTS_BOUND:,.0f}"
        told = (
            f"none was lost, so the true loss is below one frame in {frames} "
            "(95 %, by 3/N, if losses are independent)"
        )
    else:
        told = f"{lost:,} were lost"
    loads = [stream for stream in trial.streams if stream.role == "load"]
    back = sum(stream.received - stream.duplicate for stream in loads)
    mean = format_pps(back / trial.sending_s / len({stream.path for stream in loads}))
    return (
        f"The {trial.phase} trial received {received:,} frames in {length}, {mean} of load per "
        f"direction on average; {told}. {_order_said(trial)}",
    )


def _order_said(trial: TrialRecord) -> str:
    """Frames that came twice or out of order, judged or not."""
    twice = sum(stream.duplicate for stream in trial.streams)
    disordered = sum(stream.out_of_order for stream in trial.streams)
    if not twice and not disordered:
        return "None came twice, and none out of order."
    return f"{twice:,} came twice, and {disordered:,} out of order."


def _without_line(data: RunData) -> tuple[str, ...]:
    if data.result is not None:
        return (data.result.reason or "The run ended without a load line.",)
    deaths = tuple(f"Died: {death}." for death in data.deaths)
    best = _best_so_far(data.trials)
    standing = (
        ()
        if best is None
        else (f"The highest load that passed and has not failed is {format_pps(best)}.",)
    )
    return ("The run has not come to its end; plimsoll run --resume goes on.", *deaths, *standing)


def _best_so_far(trials: Sequence[TrialRecord]) -> float | None:
    """A search trial that passed proves nothing once a validation at its load has failed."""
    failed = {trial.load_pps for trial in trials if trial.verdict == "fail"}
    passed = {trial.load_pps for trial in trials if trial.verdict == "pass"}
    return max(passed - failed, default=None)


def _measured_in(trial: TrialRecord | None) -> str:
    if trial is None:
        return ""
    return f"trial {trial.number}, {trial.phase}, {format_duration(trial.sending_s)}"
