"""One side of a comparison: a run, or several repetitions of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from plimsoll.analysis.comparison.run_figures import figures_of
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_filter import RunFilter
from plimsoll.record.index.run_index import read_index
from plimsoll.record.index.run_notes import parse_tag
from plimsoll.record.methods.run_outcome import RunFigure
from plimsoll.record.query.found_runs import find_runs


@dataclass(frozen=True)
class Side:
    """`label` is as the user names it; `runs` have come to their end, the earliest first.

    `group` has the values of the facts that runs were grouped by, where they were.
    """

    label: str
    runs: tuple[RunEntry, ...]
    group: tuple[str, ...] = ()

    @cached_property
    def figures(self) -> tuple[dict[str, RunFigure], ...]:
        """Of each run, by name; of two with one name the first, which is the run's answer."""
        return tuple(_by_name(figures_of(run)) for run in self.runs)

    @property
    def methods(self) -> frozenset[str]:
        """Those by which its runs were made."""
        return frozenset(run.summary.method or "" for run in self.runs if run.summary)


def invalid_runs(sides: Sequence[Side]) -> tuple[str, ...]:
    """The warning that runs were spoiled by the tester; none where none was."""
    runs = [run.summary for side in sides for run in side.runs if run.summary]
    invalid = sum(summary.verdict == "invalid" for summary in runs)
    if not invalid:
        return ()
    return (f"{invalid} of {len(runs)} runs are invalid: the tester was disturbed, not the DUT.",)


def _by_name(figures: Iterable[RunFigure]) -> dict[str, RunFigure]:
    named: dict[str, RunFigure] = {}
    for each in figures:
        named.setdefault(each.name, each)
    return named


def find_side(text: str, runs_root: Path) -> Side:
    """The runs that carry the tag `text` (key=value), or those that it names, or matches.

    Runs that go on, were cut short or are damaged are left out. Raises InputError where
    none is left.
    """
    entries = _tagged(text, runs_root) if "=" in text else _named(text, runs_root)
    finished = [each for each in entries if each.state == "finished"]
    if not finished:
        raise InputError(
            f"names no run that has come to its end ({len(entries)} in another state)",
            where=text,
            remedy="plimsoll runs lists what there is; go on with one by --resume",
        )
    return Side(text, tuple(sorted(finished, key=lambda each: each.began_unix_ns or 0)))


def _tagged(text: str, runs_root: Path) -> Sequence[RunEntry]:
    key, value = parse_tag(text)
    tagged = RunFilter(tags=((key, value),))
    return [each for each in read_index(runs_root) if tagged.takes(each)]


def _named(text: str, runs_root: Path) -> Sequence[RunEntry]:
    return [entry_of(run.path.name, run.path) for run in find_runs([text], runs_root)]
