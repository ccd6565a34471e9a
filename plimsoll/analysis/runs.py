"""Runs opened for looking at and comparing: `plimsoll.open` and `plimsoll.open_all`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import overload

from plimsoll.analysis.measured import Measured
from plimsoll.analysis.metric_rows import Texts, several
from plimsoll.analysis.run import Run
from plimsoll.analysis.shown import html_note, shown
from plimsoll.analysis.table import Column, PlainTable
from plimsoll.analysis.when import When, unix_ms
from plimsoll.errors import InputError
from plimsoll.record.index.find import RunFilter, find_run, find_run_path, read_index
from plimsoll.record.index.run_entry import RunEntry, RunState, entry_of
from plimsoll.record.index.run_paths import looks_like_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.plain_text import plain_text

_COLUMNS = (
    Column("run", "text"),
    Column("name", "text"),
    Column("method", "text"),
    Column("state", "text"),
    Column("began", "time"),
    Column("ended", "time"),
    Column("dut", "text"),
    Column("trials", "integer"),
    Column("verdict", "text"),
    Column("load_line_pps", "number"),
    Column("answer", "text"),
)
_TAG = "tag."
_NS_PER_MS = 1_000_000
_MAX_LISTED = 5


class Runs(Sequence[Run], Measured):
    """Runs in the order of their ids, which is that in which they began.

    `damaged` are those that cannot be opened: each a `Run` whose `damage` says why, and that
    is not among the others.
    """

    def __init__(self, title: str, runs: Iterable[Run], damaged: Iterable[Run] = ()) -> None:
        self._title = title
        self._runs = tuple(runs)
        self.damaged = tuple(damaged)

    @classmethod
    def of_entries(cls, title: str, entries: Iterable[RunEntry]) -> Runs:
        """What the index says of them: the sound ones, and the damaged ones apart."""
        runs = [Run(entry) for entry in entries]
        return cls(
            title,
            (run for run in runs if run.state != "damaged"),
            (run for run in runs if run.state == "damaged"),
        )

    @overload
    def __getitem__(self, place: int) -> Run: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: int | slice) -> Run | Runs:
        if isinstance(place, slice):
            return Runs(self._title, self._runs[place])
        return self._runs[place]

    def __len__(self) -> int:
        return len(self._runs)

    def where(
        self,
        *,
        tags: Mapping[str, str | None] | None = None,
        dut: Texts = None,
        method: Texts = None,
        verdict: Verdict | Sequence[Verdict] | None = None,
        state: RunState | Sequence[RunState] | None = None,
        since: When | None = None,
        until: When | None = None,
        name: str | None = None,
    ) -> Runs:
        """Those of which all that is given holds, as in `plimsoll runs`.

        A tag of None only has to be there. `dut` is a kind of lab, a simulated model, or both
        as in "simulated/rare-stalls"; `name` a shell pattern for the run's name or id. A run
        began from `since` on and before `until`. Raises InputError where a time is none.
        """
        selected = RunFilter(
            tags=tuple((tags or {}).items()),
            duts=several(dut) or (),
            methods=several(method) or (),
            verdicts=several(verdict) or (),
            states=several(state) or (),
            since_ns=None if since is None else unix_ms(since, "since") * _NS_PER_MS,
            until_ns=None if until is None else unix_ms(until, "until") * _NS_PER_MS,
            name=name,
        )
        return self.that(lambda run: selected.takes(run.entry))

    def that(self, holds: Callable[[Run], bool]) -> Runs:
        """Those of which `holds` is true."""
        return Runs(self._title, filter(holds, self._runs))

    def table(self) -> PlainTable:
        """A row for each run, with a column for each tag, such as `tag.release`."""
        tags = sorted({key for run in self._runs for key in run.tags})
        columns = (*_COLUMNS, *(Column(f"{_TAG}{key}", "text") for key in tags))
        return PlainTable(self._title, columns, (_row(run, tags) for run in self._runs))

    def __repr__(self) -> str:
        return "\n".join([repr(self.table()), *map(shown, self._damages())])

    def _repr_html_(self) -> str:
        return self.table()._repr_html_() + "".join(map(html_note, self._damages()))

    def _measured_runs(self) -> Mapping[str, RunDirectory]:
        return {run.id: run.entry.run for run in self._runs}

    def _damages(self) -> list[str]:
        lines = [f"Damaged: {run.id}: {' '.join(run.damage)}" for run in self.damaged[:_MAX_LISTED]]
        left = len(self.damaged) - len(lines)
        return [*lines, f"… and {left} more in .damaged"] if left else lines


def _row(run: Run, tags: Sequence[str]) -> tuple[object, ...]:
    return (
        run.id,
        run.name,
        run.method,
        run.state,
        run.began,
        run.ended,
        run.dut,
        run.finished_trials,
        run.verdict,
        run.load_line_pps,
        run.answer.text if run.answer else None,
        *(run.tags.get(key) for key in tags),
    )


AnyPath = str | os.PathLike[str]


def open_run(run: AnyPath, runs_root: AnyPath) -> Run:
    """The run that `run` means: a path; or, below `runs_root`, an id, its start, or last.

    Raises InputError where there is none, or several.
    """
    directory = find_run(str(run), Path(runs_root))
    return Run(entry_of(directory.run_id, directory.path))


def open_runs(where: AnyPath | Iterable[AnyPath], *, parts: bool, stack_level: int) -> Runs:
    """The runs in a folder, of a shell pattern of paths, or of several paths.

    Warns of damaged ones, at the caller so many levels up. Raises InputError.
    """
    runs = Runs.of_entries(*_entries(where, parts))
    if runs.damaged:
        names = ", ".join(plain_text(run.id) for run in runs.damaged[:5])
        warnings.warn(
            f"{len(runs.damaged)} damaged and left out, see .damaged: {names}",
            stacklevel=stack_level + 1,
        )
    return runs


def _entries(where: AnyPath | Iterable[AnyPath], parts: bool) -> tuple[str, Iterator[RunEntry]]:
    if not isinstance(where, str | os.PathLike):
        paths = [find_run_path(str(each), Path()) for each in where]
        return "Runs", _each(paths)
    title = f"Runs of {where}"
    if has_magic(str(where)) and not Path(where).exists():
        return title, _each(path for path in map(Path, sorted(glob(str(where)))) if _is_run(path))
    if RunDirectory(Path(where)).journal.is_file():
        raise InputError(
            "this is one run, not a folder of runs",
            where=plain_text(str(where)),
            remedy="open it by plimsoll.open",
        )
    return title, read_index(Path(where), parts=parts)


def _each(paths: Iterable[Path]) -> Iterator[RunEntry]:
    """By their names; by their paths where two have the same name."""
    listed = list(paths)
    alike = len({path.name for path in listed}) < len(listed)
    return (entry_of(str(path) if alike else path.name, path) for path in listed)


def _is_run(path: Path) -> bool:
    return path.is_dir() and looks_like_run(path)
