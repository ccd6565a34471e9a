"""A run's result on the terminal: the trials, then the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from plimsoll.methods.load_line.answer import (
    LIMIT_SENTENCES,
    ceiling_said,
    diagnosed,
    events_bound,
    goal_said,
    platform_said,
    unwatched_said,
)
from plimsoll.record.results.load_line import LoadLine
from plimsoll.record.results.result import Result
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.report.parts.headline import offered_said
from plimsoll.terminal.tables.trial_table import VERDICT_STYLES, trial_table
from plimsoll.text.units import format_duration, format_pps
from plimsoll.trial.judging.dut_agreement import RETURNED_LENGTH_RULE

_BORDERS: Mapping[Verdict, str] = {"pass": "green", "fail": "red", "invalid": "yellow"}
_WIDEST = 110
_FRAME_CELLS = 4
# Without a validation the load line rests on its own trial.
_PROOFS = {"validation": "validated for", "search": "not validated; its trial of"}


def print_result(result: Result, trials: Sequence[TrialRecord], console: Console) -> None:
    """Print every trial, and the load line with the criteria it met."""
    console.print()
    console.print(trial_table(trials))
    console.print()
    console.print(_answer(result, trials))


def _answer(result: Result, trials: Sequence[TrialRecord]) -> Panel:
    lines = [
        *_load_line(result, _proof_of(result, trials)),
        *_criteria(result, trials),
        *_goals(result),
        *_credibility(result),
    ]
    style = _BORDERS[result.verdict]
    # Sentences are read, figures are looked at: no line of a page is longer.
    wide = min(_WIDEST, max(line.cell_len for line in lines) + _FRAME_CELLS)
    return Panel(Text("\n").join(lines), title="Load line", border_style=style, width=wide)


def _proof_of(result: Result, trials: Sequence[TrialRecord]) -> TrialRecord | None:
    number = result.validation.trial if result.validation else None
    return next((trial for trial in trials if trial.number == number), None)


def _load_line(result: Result, proof: TrialRecord | None) -> Iterator[Text]:
    if result.load_line is None:
        found = "could not test" if result.verdict == "invalid" else "none"
        yield Text.assemble((found, VERDICT_STYLES[result.verdict]), f": {result.reason}")
        # The reason is there already.
        yield from (Text(sentence) for sentence in diagnosed(result)[1:])
        return
    line = result.load_line
    yield Text.assemble(
        (format_pps(line.pps_per_direction), "bold green"),
        f" per direction, {format_pps(line.total_pps)} in all",
    )
    yield from (Text(said) for said in offered_said(result, proof))
    yield Text(_rates(line))
    if result.limited_by is not None:
        yield Text(LIMIT_SENTENCES[result.limited_by])
    yield from (
        Text(said)
        for said in (*ceiling_said(result), *platform_said(result), *unwatched_said(result))
    )
    if result.validation is not None:
        yield Text(
            f"{_PROOFS[result.validation.phase]} {format_duration(result.validation.duration_s)}: "
            f"{result.validation.verdict}"
        )


def _goals(result: Result) -> Iterator[Text]:
    """What the search says of its limit; then every goal, where there are several."""
    first = result.goals[0] if result.goals else None
    if first is not None:
        yield from (Text(said) for said in (*first.notes, *events_bound(first)))
    for goal in result.goals if len(result.goals) > 1 else ():
        line = goal.load_line
        load = "none" if line is None else format_pps(line.pps_per_direction)
        yield Text.assemble(f"goal {goal.name}: ", (load, "bold"), f"  {goal_said(goal)}")


def _rates(line: LoadLine) -> str:
    rates = (
        f"{line.l1_bps_per_direction / 1e9:.4g} Gbps L1, "
        f"{line.l2_bps_per_direction / 1e9:.4g} Gbps L2 per direction"
    )
    if line.percent_of_line_rate is None:
        return rates
    return f"{rates}, {line.percent_of_line_rate:.4g} % of line rate"


def _criteria(result: Result, trials: Sequence[TrialRecord]) -> Iterator[Text]:
    """Each criterion as the validation found it, by what came closest to breaking it."""
    if result.load_line is None or result.validation is None:
        return
    kinds = {str(criterion["kind"]) for criterion in result.criteria}
    number = result.validation.trial
    proof = next((trial for trial in trials if trial.number == number), None)
    if proof is None:
        yield Text(f"the journal has lost trial {number}, on which the result rests", "bold red")
        return
    worst: dict[str, FindingRecord] = {}
    for finding in proof.findings:
        if finding.is_of(kinds):
            worst[finding.rule] = max(worst.get(finding.rule, finding), finding, key=_value)
    for finding in worst.values():
        yield Text.assemble(("  ok  ", "green"), finding.text)
    for finding in proof.findings:
        if finding.rule == RETURNED_LENGTH_RULE:
            yield Text.assemble(("note  ", "yellow"), finding.text)


def _value(finding: FindingRecord) -> float:
    return finding.value if finding.value is not None else 0.0


def _credibility(result: Result) -> Iterator[Text]:
    counts = result.trials.by_verdict
    yield Text(
        f"trials: {counts['pass']} passed, {counts['fail']} failed, "
        f"{counts['invalid']} invalid (the tester's fault, run again)"
    )
    for reason in result.invalid_reasons:
        yield Text(f"  invalid by {reason.rule}: {reason.trials}")
    agreement = result.dut_agreement
    if agreement is not None:
        yield Text(
            f"the DUT's own counters agree to the frame in {agreement.trials_agreeing} "
            f"of {agreement.trials_compared} trials"
        )
