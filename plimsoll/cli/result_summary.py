"""A run's result on the terminal: the trials, then the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from plimsoll.cli.trial_table import trial_table
from plimsoll.record.result import LoadLine, Result
from plimsoll.record.trial_record import FindingRecord, TrialRecord
from plimsoll.report.answer import (
    LIMIT_SENTENCES,
    ceiling_said,
    diagnosed,
    events_bound,
    goal_said,
    platform_said,
)
from plimsoll.traffic.units import format_duration, format_pps

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
        *_load_line(result),
        *_criteria(result, trials),
        *_goals(result),
        *_credibility(result),
    ]
    style = "green" if result.load_line else "red"
    # Sentences are read, figures are looked at: no line of a page is longer.
    wide = min(_WIDEST, max(line.cell_len for line in lines) + _FRAME_CELLS)
    return Panel(Text("\n").join(lines), title="Load line", border_style=style, width=wide)


def _load_line(result: Result) -> Iterator[Text]:
    if result.load_line is None:
        yield Text.assemble(("none", "bold red"), f": {result.reason}")
        # The reason is there already.
        yield from (Text(sentence) for sentence in diagnosed(result)[1:])
        return
    line = result.load_line
    yield Text.assemble(
        (format_pps(line.pps_per_direction), "bold green"),
        f" per direction, {format_pps(line.total_pps)} in all",
    )
    yield Text(_rates(line))
    if result.limited_by is not None:
        yield Text(LIMIT_SENTENCES[result.limited_by])
    yield from (Text(said) for said in (*ceiling_said(result), *platform_said(result)))
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
    proof = next(trial for trial in trials if trial.number == result.validation.trial)
    worst: dict[str, FindingRecord] = {}
    for finding in proof.findings:
        if finding.is_of(kinds):
            worst[finding.rule] = max(worst.get(finding.rule, finding), finding, key=_value)
    for finding in worst.values():
        yield Text.assemble(("  ok  ", "green"), finding.text)


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
