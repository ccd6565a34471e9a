"""Trials as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from rich.text import Text

from plimsoll.record.trials.latency_record import slowest_between
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.units import (
    format_duration,
    format_ns_between,
    format_pps,
    format_ratio,
)

PHASES: dict[TrialPhase, str] = {
    **{phase: phase for phase in get_args(TrialPhase)},
    "warmup": "warm-up",
    "single": "trial",
}
VERDICT_STYLES: dict[Verdict, str] = {
    "pass": "bold green",
    "fail": "bold red",
    "invalid": "bold yellow",
    "none": "dim",
}
_COLUMNS = (
    TableColumn("#"),
    TableColumn("phase", "left"),
    *(TableColumn(heading) for heading in ("intended", "offered", "sent for", "loss", "probe p99")),
    TableColumn("verdict", "left"),
    TableColumn("broken", "left", wraps=True),
)


def trial_table(trials: Sequence[TrialRecord]) -> FigureTable:
    """Every trial with its verdict and the rules that made it."""
    table = FigureTable("Trials (load per direction)", _COLUMNS)
    for trial in trials:
        table.add_row(
            str(trial.number),
            PHASES[trial.phase],
            format_pps(trial.load_pps) if trial.load_pps else "probe only",
            "-" if trial.offered_pps is None else format_pps(trial.offered_pps),
            format_duration(trial.sending_s),
            _loss(trial),
            _probe_p99(trial),
            Text(trial.verdict if trial.verdict != "none" else "", VERDICT_STYLES[trial.verdict]),
            _rules(trial),
        )
    return table


def reason_of(trial: TrialRecord) -> str:
    """The first reason of the verdict, and how many more there are; the figures of a pass."""
    reasons = trial.reasons
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return reasons[0].text + more
    offered = "" if trial.offered_pps is None else f"offered {format_pps(trial.offered_pps)}, "
    return f"{offered}loss {_loss(trial)}, probe p99 {_probe_p99(trial)}"


def _rules(trial: TrialRecord) -> str:
    return ", ".join(sorted({reason.rule for reason in trial.reasons}))


def _loss(trial: TrialRecord) -> str:
    """Over all streams."""
    lost = sum(stream.lost for stream in trial.streams)
    offered = lost + sum(stream.received - stream.duplicate for stream in trial.streams)
    return format_ratio(lost / offered) if offered > 0 else "-"


def _probe_p99(trial: TrialRecord) -> str:
    """The worst probe's."""
    worst = slowest_between((s for s in trial.streams if s.role == "latency"), "p99_ns")
    return format_ns_between(*worst) if worst else "-"
