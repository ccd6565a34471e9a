"""Whether a place belongs to run directories, where nothing else is to be written."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.record.index.run_paths import RUN_ID


def run_at(folder: Path) -> Path | None:
    """The run that `folder` is, is in, holds or stands next to; None where there is none.

    Only what a run directory is called or holds counts: a folder that merely holds an
    experiment is the user's own.
    """
    try:
        here = Path(os.path.realpath(folder))
    except ValueError:
        # What cannot be a path lies nowhere; writing to it reports the error.
        return None
    for place in (here, *here.parents):
        if _is_run(place):
            return place
    return _first_run(here) or _first_run(here.parent)


def _first_run(folder: Path) -> Path | None:
    try:
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries if each.is_dir())
    except OSError:
        return None
    return next((folder / name for name in names if _is_run(folder / name)), None)


def _is_run(path: Path) -> bool:
    # os.path's says no, and raises nothing, of what may not be seen.
    parts = [os.path.isfile(path / name) for name in ("experiment.yaml", "journal.jsonl")]
    return all(parts) or (RUN_ID.fullmatch(path.name) is not None and any(parts))
