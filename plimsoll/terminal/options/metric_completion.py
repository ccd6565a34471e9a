"""What a shell offers when the tab key is pressed in `plimsoll metrics`, and for periods.

It looks into the run that is named before on the line, or into the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from plimsoll.errors import PlimsollError
from plimsoll.record.index.find import LAST
from plimsoll.record.query import ALL_PERIODS, MEASUREMENT
from plimsoll.record.query.contents import MetricContents, metric_contents
from plimsoll.record.query.queried_run import find_runs, recorded_periods
from plimsoll.record.run.primary_trial import trials_by_phase
from plimsoll.record.run.run_directory import RunDirectory


def complete_period(ctx: typer.Context, incomplete: str) -> list[str]:
    """Periods of the run, and the phases of its trials."""
    return _offered(lambda: _period_words(_run(ctx)), incomplete)


def complete_source(ctx: typer.Context, incomplete: str) -> list[str]:
    """Sources that the run has."""
    return _offered(lambda: (metric.source for metric in _contents(ctx)), incomplete)


def complete_type(ctx: typer.Context, incomplete: str) -> list[str]:
    """Types that the source has, where it is named before, else all."""
    return _offered(lambda: (metric.type for metric in _contents(ctx)), incomplete)


def _offered(names: Callable[[], Iterable[str]], incomplete: str) -> list[str]:
    """Those with this prefix, in order. Errors are reported by the command, not by completion."""
    try:
        # A name that would drive the terminal is not offered to be written into it.
        fitting = [n for n in names() if n.startswith(incomplete) and n.isprintable()]
    except (PlimsollError, OSError, ValueError):
        return []
    return list(dict.fromkeys(fitting))


def _period_words(run: RunDirectory) -> list[str]:
    return [MEASUREMENT, ALL_PERIODS, *trials_by_phase(run), *recorded_periods(run)]


def _contents(ctx: typer.Context) -> list[MetricContents]:
    period = ctx.params.get("period") or MEASUREMENT
    return metric_contents([_run(ctx)], period, ctx.params.get("source"))[0]


def _run(ctx: typer.Context) -> RunDirectory:
    named = ctx.params.get("run") or LAST
    # An option that may be repeated, or an argument.
    texts = [named] if isinstance(named, str) else [str(each) for each in named]
    return find_runs(texts, _root(ctx))[0]


def _root(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("runs") or "runs")
