"""Opening runs for looking at: `plimsoll.open` and `plimsoll.open_all`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

from plimsoll.analysis.run import Run
from plimsoll.analysis.runs import Runs
from plimsoll.errors import InputError
from plimsoll.record.index.find import find_run, find_run_path
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_index import read_index
from plimsoll.record.index.run_paths import looks_like_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import plain_text

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
