"""The first screen of a search for the load line, and of a single trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.methods.load_line.answer import (
    LIMIT_SENTENCES,
    ceiling_said,
    diagnosed,
    events_bound,
    platform_said,
    unwatched_said,
)
from plimsoll.record.results.load_line import ZERO_EVENTS_BOUND, LoadLine
from plimsoll.record.results.method_result import invalid_reasons
from plimsoll.record.results.result import Result
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.parts.finding_lines import criteria_in_short, rule_words
from plimsoll.report.parts.headline import Headline, compared_loads, offered_said, trials_trust
from plimsoll.text.units import format_duration, format_pps

# Without a validation the load line rests on its own trial.
_PROOFS = {"validation": "validated for", "search": "not validated; its trial ran"}


def first_screen(data: RunData, cause: str = "") -> Headline:
    """The load line with its proof; or why there is none, be it the DUT or a run cut short.

    `cause` is the sentence on what explains losses and spikes; "" where no causes are recorded.
    A `plimsoll trial` searches no load line: its answer is its verdict.
    """
    if data.single:
        return _single(data)
    result = data.result
    if result is not None and result.diagnosis is not None:
        # What criteria a trial happened to meet that says nothing of the DUT is not news.
        said = diagnosed(result)
        return _without("No load line: could not test", "invalid", "invalid", said, data)
    if result is None or result.load_line is None:
        return _no_line(data, cause)
    return _with_line(data, result, result.load_line, cause)


def received_said(trial: TrialRecord) -> str:
    """What came back of the trial, and what no loss at all says of the true loss."""
    received = sum(stream.received - stream.duplicate for stream in trial.streams)
    lost = sum(stream.lost for stream in trial.streams)
    said = f"In {format_duration(trial.sending_s)} {received:,} frames were received"
    if lost or not received:
        return f"{said} and {lost:,} lost. {order_said(trial)}"
    bound = f"{received / ZERO_EVENTS_BOUND:,.0f}"
    return (
        f"{said} and none lost: the true loss is below one frame in {bound} "
        f"(95 %, rule of three, if losses are independent). {order_said(trial)}"
    )


def order_said(trial: TrialRecord) -> str:
    """Frames that came twice or out of order, judged or not."""
    twice = sum(stream.duplicate for stream in trial.streams)
    disordered = sum(stream.out_of_order for stream in trial.streams)
    if not twice and not disordered:
        return "None was duplicated or reordered."
    return f"{twice:,} were duplicated and {disordered:,} reordered."


def _with_line(data: RunData, result: Result, line: LoadLine, cause: str) -> Headline:
    value, unit = format_pps(line.pps_per_direction).split(" ")
    limited = (LIMIT_SENTENCES[result.limited_by],) if result.limited_by else ()
    goal = result.goals[0] if result.goals else None
    return Headline(
        kicker="Load line",
        outcome="pass",
        outcome_words=_proof_words(result),
        value=value,
        unit=f"{unit} per direction",
        facts=_facts(line),
        limit=_nonempty(
            *limited, *ceiling_said(result), *platform_said(result), *unwatched_said(result), cause
        ),
        trust=(trust_said(data),),
        criteria=criteria_in_short(data),
        criteria_of=measured_in(data.focus),
        exact=(
            f"Offered were exactly {_exact(line.pps_per_direction)} pps per direction.",
            *offered_said(result, data.focus),
            *(goal.notes if goal else ()),
            *(events_bound(goal) if goal else ()),
            *((received_said(data.focus),) if data.focus else ()),
        ),
    )


def trust_said(data: RunData) -> str:
    """How many trials the tester spoiled, and whether the DUT's own counters agree."""
    judged = [trial for trial in data.trials if trial.verdict != "none"]
    reasons = invalid_reasons(data.trials)
    invalid = sum(trial.verdict == "invalid" for trial in judged)
    said = trials_trust(len(judged), invalid, rule_words(reasons[0].rule) if reasons else "")
    agreement = data.result.dut_agreement if data.result else None
    if agreement is None:
        return said
    return (
        f"{said} The DUT's port counters agree to the frame in {agreement.trials_agreeing} of "
        f"{agreement.trials_compared} trials."
    )


def measured_in(trial: TrialRecord | None) -> str:
    """Which trial, in words: "trial 14, validation, 1m00s"; "" before any."""
    if trial is None:
        return ""
    return f"trial {trial.number}, {trial.phase}, {format_duration(trial.sending_s)}"


def _proof_words(result: Result) -> str:
    validation = result.validation
    if validation is None:
        return ""
    return f"{_PROOFS[validation.phase]} {format_duration(validation.duration_s)}"


def _facts(line: LoadLine) -> tuple[tuple[str, str], ...]:
    sizes = ", ".join(str(size) for size in line.frame_sizes)
    directions = "both directions" if line.directions == 2 else f"{line.directions} direction(s)"
    facts = [
        (format_pps(line.total_pps), f"in {directions}"),
        (format_bps(line.l1_bps_per_direction), "L1 per direction"),
        (format_bps(line.l2_bps_per_direction), "L2 per direction"),
        (f"{sizes} B", "frame size, with FCS"),
    ]
    if line.percent_of_line_rate is not None:
        facts.append((f"{line.percent_of_line_rate:.4g} %", "of line rate"))
    if line.intended_pps_per_direction is not None:
        facts.append((format_pps(line.intended_pps_per_direction), "intended, per direction"))
    return tuple(facts)


def format_bps(bps: float) -> str:
    """For people: "1.843 Gbps", four digits."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if bps >= factor * 0.99995:
            return f"{bps / factor:.4g} {prefix}bps"
    return f"{bps:.4g} bps"


def _exact(pps: float) -> str:
    return f"{pps:,.3f}".rstrip("0").rstrip(".")


def _no_line(data: RunData, cause: str) -> Headline:
    if data.result is not None:
        reason = data.result.reason or "the run ended without a load line"
        why = (f"{reason[0].upper()}{reason[1:].rstrip('.')}.", cause)
        outcome = data.result.verdict
        shown = _without("No load line", outcome, outcome, why, data)
        # The trial that decided it, by each criterion: what failed comes first.
        order = {"fail": 0, "invalid": 1}
        criteria = sorted(criteria_in_short(data), key=lambda each: order.get(each.outcome, 2))
        return replace(shown, criteria=tuple(criteria), criteria_of=measured_in(data.focus))
    heading, words = (
        ("No load line", "ended") if data.finished else ("No load line yet", "not ended")
    )
    best = _best_so_far(data.trials)
    said = (
        "The run has not finished; plimsoll run --resume continues it.",
        *(f"Died: {each}." for each in data.failures),
        f"The highest load that passed and has not failed is {format_pps(best)}." if best else "",
        cause,
    )
    return _without(heading, "none", words, said, data)


def _without(
    statement: str, outcome: str, words: str, said: Sequence[str], data: RunData
) -> Headline:
    return Headline(
        kicker="Load line",
        outcome=outcome,
        outcome_words=words,
        statement=statement,
        limit=_nonempty(*said),
        # A diagnosis counts the invalid trials itself.
        trust=() if outcome == "invalid" else (trust_said(data),),
    )


def _best_so_far(trials: Sequence[TrialRecord]) -> float | None:
    """A search trial that passed proves nothing once a validation at its load has failed."""
    failed = {trial.load_pps for trial in trials if trial.verdict == "fail"}
    passed = {trial.load_pps for trial in trials if trial.verdict == "pass"}
    return max(passed - failed, default=None)


def _single(data: RunData) -> Headline:
    """The page of a `plimsoll trial`: judged by itself, no load line was searched."""
    died = tuple(f"Died: {each}." for each in data.failures)
    if not data.trials:
        said = ("It was started and has no verdict.", *died)
        return Headline("Single trial", "none", "not ended", statement="Not ended", limit=said)
    trial = data.trials[-1]
    reasons = dict.fromkeys(f"{finding.text}." for finding in trial.reasons)
    return Headline(
        kicker="Single trial",
        outcome=trial.verdict,
        outcome_words=trial.verdict,
        statement=f"One trial at {format_pps(trial.load_pps)}: {trial.verdict}",
        limit=("It was judged by itself: no load line was searched.", *reasons, *died),
        trust=(*_loads_of(trial), received_said(trial)),
        criteria=criteria_in_short(data),
        criteria_of=measured_in(trial),
    )


def _loads_of(trial: TrialRecord) -> tuple[str, ...]:
    """What it offered of what was intended; none without a rate."""
    if trial.offered_pps is None:
        return ()
    least = trial.evidence.least_offered if trial.evidence else None
    return (f"{compared_loads(trial.load_pps, trial.offered_pps, least)}.",)


def _nonempty(*sentences: str) -> tuple[str, ...]:
    return tuple(sentence for sentence in sentences if sentence)
