"""Charts, tables and pages from records.

What makes them is loaded with the first that is made: it takes half as long as to load all else
that a command needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.record.run.run_directory import RunDirectory

if TYPE_CHECKING:
    from plimsoll.analysis.comparison.gate import GateResult
    from plimsoll.record.trials.trial_record import Verdict

__all__ = [
    "as_junit",
    "as_markdown",
    "write_files",
    "write_report",
]


def write_report(run: RunDirectory) -> Path:
    """Write the run's report.html anew and return its path. Raises RecordError."""
    from plimsoll.report import registry  # noqa: PLC0415

    return registry.write_report(run)


def write_files(run: RunDirectory, *, charts: bool, tables: bool) -> list[Path]:
    """Write report.html, and each chart and table if requested. Raises RecordError."""
    from plimsoll.report import page_files  # noqa: PLC0415

    return page_files.write_files(run, charts=charts, tables=tables)


def as_markdown(
    run: RunDirectory, gates: Sequence[GateResult] = (), damage: tuple[str, ...] = ()
) -> str:
    """The run's report as GitHub-flavoured Markdown. Raises RecordError."""
    from plimsoll.report import registry  # noqa: PLC0415

    return registry.as_markdown(run, gates, damage)


def as_junit(
    run: RunDirectory,
    verdict: Verdict,
    gates: Sequence[GateResult] = (),
    damage: tuple[str, ...] = (),
) -> str:
    """The same as JUnit XML; `verdict` is the run's. Raises RecordError."""
    from plimsoll.report import registry  # noqa: PLC0415

    return registry.as_junit(run, verdict, gates, damage)
