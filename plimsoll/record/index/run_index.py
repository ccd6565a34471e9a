"""All runs below a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.run_paths import part_paths, run_paths


def read_index(runs_root: Path, *, parts: bool = False) -> Iterator[RunEntry]:
    """The runs directly below `runs_root`, by name, each as it is now.

    With `parts` a matrix run is followed by the runs it is made of. A run that is removed
    by then is left out. Raises InputError where the folder cannot be read.
    """
    for path in run_paths(runs_root):
        entry = entry_of(path.name, path)
        if entry.state == "damaged" and not path.is_symlink() and not path.exists():
            continue
        yield entry
        if parts:
            for part in part_paths(path):
                yield entry_of(part.relative_to(runs_root).as_posix(), part)
