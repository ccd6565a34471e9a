"""Trials as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from rich.console import Group
from rich.text import Text

from plimsoll.record.trials.latency_record import slowest_between
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.units import (
    format_duration,
    format_ns,
    format_ns_between,
    format_pps,
    format_ratio,
)
from plimsoll.trial.judging.dut_agreement import RETURNED_LENGTH_RULE

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


# Refused by a full queue; skipped and without buffer are the tester's own.
_COUNTS = (
    *("sent", "refused", "skipped", "no_buffer", "received", "lost"),
    *("timed_out", "out_of_order", "duplicate", "corrupt"),
)
_COUNT_HEADINGS = (
    *("sent", "refused", "skipped", "no buffer", "received", "lost"),
    *("timed out", "out of order", "duplicates", "corrupt"),
)
_LATENCIES = ("min_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")
_LATENESS = ("p50_ns", "p99_9_ns", "max_ns")
_LATENCY_HEADINGS = (
    *("min", "p50", "p99", "p99.9", "max"),
    *("late p50", "late p99.9", "late max"),
)


def stream_tables(trial: TrialRecord) -> Group:
    """Frames, latencies and, of probes, lateness of every stream."""
    frames = _table("Frames", _COUNT_HEADINGS)
    latencies = _table("Latency, and how late probes left", _LATENCY_HEADINGS)
    for stream in trial.streams:
        frames.add_row(stream.name, *(f"{getattr(stream, name):,}" for name in _COUNTS))
        latencies.add_row(
            stream.name,
            *(_ends(stream, name) for name in _LATENCIES),
            *(_time(getattr(stream.lateness, name)) for name in _LATENESS),
        )
    stamps = [f"{each.name}: {each.stamps.sentence}" for each in trial.streams if each.stamps]
    lengths = [each.text for each in trial.findings if each.rule == RETURNED_LENGTH_RULE]
    return Group(frames, *lengths, "", latencies, *stamps)


def _table(title: str, headings: Sequence[str]) -> FigureTable:
    return FigureTable(
        title, (TableColumn("stream", "left"), *(TableColumn(each) for each in headings))
    )


def _ends(stream: StreamRecord, name: str) -> str:
    low, high = (getattr(each, name) for each in stream.latency_ends)
    return "-" if low is None or high is None else format_ns_between(low, high)


def _time(ns: int | None) -> str:
    return "-" if ns is None else format_ns(ns)
