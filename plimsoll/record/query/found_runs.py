"""The runs that a user names: by path, id, the start of an id, `last`, or a pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_paths import looks_like_run
from plimsoll.record.run.run_directory import RunDirectory


def find_runs(texts: Sequence[str], runs_root: Path) -> list[RunDirectory]:
    """Each run that one of `texts` means, once, in their order; a pattern's runs by name.

    A pattern has `*`, `?` or `[…]` in it and is of paths, or of ids below `runs_root`.
    A match that is not a run is left out. Raises InputError for a text without a run.
    """
    found: dict[Path, RunDirectory] = {}
    for text in texts:
        for run in _matching(text, runs_root):
            found.setdefault(run.path.absolute(), run)
    return list(found.values())


def _matching(text: str, runs_root: Path) -> Iterator[RunDirectory]:
    if not has_magic(text) or Path(text).exists():
        yield find_run(text, runs_root)
        return
    matches = glob(text) or glob(str(runs_root / text))
    found = map(Path, sorted(matches))
    paths = [path for path in found if path.is_dir() and looks_like_run(path)]
    if not paths:
        raise InputError(
            f"no run fits the pattern, neither as a path nor in {runs_root}",
            where=f"--run {text}",
            remedy="plimsoll runs lists those there are; write the pattern in quotes",
        )
    yield from map(RunDirectory, paths)
