"""The summaries as a table, for a terminal or for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from benchmarks.search.summary import Summary

_HEADINGS = (
    "model",
    "loss allowed",
    "strategy",
    "seeds",
    "overhead min / median / max",
    "load ÷ sustainable min / median / max",
    "found",
    "survived",
    "to be expected",
)


def table(summaries: Sequence[Summary]) -> Table:
    """For a terminal."""
    shown = Table(title=None)
    for number, heading in enumerate(_HEADINGS):
        shown.add_column(heading, justify="left" if number < 3 else "right")
    before = None
    for summary in summaries:
        if before is not None and summary.model != before:
            shown.add_section()
        shown.add_row(*_cells(summary))
        before = summary.model
    return shown


def markdown(summaries: Sequence[Summary]) -> str:
    """For a document."""
    rule = ["---"] * 3 + ["---:"] * (len(_HEADINGS) - 3)
    rows = [_HEADINGS, rule, *(_cells(summary) for summary in summaries)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(summary: Summary) -> tuple[str, ...]:
    overhead = " / ".join(_hours(hours) for hours in summary.overhead_h)
    load = " / ".join(f"{share:.3f}" for share in summary.load) if summary.load else "-"
    return (
        summary.model,
        f"{summary.limit:.3%}" if summary.limit else "none",
        summary.strategy,
        str(summary.seeds),
        overhead,
        load,
        f"{summary.found / summary.seeds:.0%}",
        f"{summary.survived:.1%}",
        f"{summary.survival:.1%}",
    )


def _hours(hours: float) -> str:
    if hours < 1 / 6:
        return f"{hours * 3600:.0f} s"
    return f"{hours:.1f} h"
