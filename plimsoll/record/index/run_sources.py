"""The files that a run's summary is made from, and how they were when it was made."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory

RESTORE_RUN = "restore it from a copy of the run, or remove the run: plimsoll runs rm"
# Size in bytes, and the time of the last change in ns since the epoch.
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RunSources:
    """The stamps of experiment, journal and result; there is no result before the run's end."""

    experiment: Stamp
    journal: Stamp
    result: Stamp | None

    @classmethod
    def of(cls, run: RunDirectory) -> Self:
        """As they are now. Raises RecordError where one is missing, no file, or unreadable."""
        return cls(
            experiment=_needed(run.experiment),
            journal=_needed(run.journal),
            result=_stamp(run.result),
        )

    def hold_for(self, now: Self, *, running: bool) -> bool:
        """Whether what was read from these holds of the files as they are `now`.

        The journal of a `running` run grows by the second, and nothing in it but the run's
        start is in the summary of a run that goes on.
        """
        same = self.experiment == now.experiment and self.result == now.result
        return same and (running or self.journal == now.journal)


def _needed(path: Path) -> Stamp:
    stamp = _stamp(path)
    if stamp is None:
        raise RecordError(f"holds no {path.name}", where=str(path.parent), remedy=RESTORE_RUN)
    return stamp


def _stamp(path: Path) -> Stamp | None:
    """None where there is no such file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise _unreadable(path, "not a regular file")
    if not os.access(path, os.R_OK, effective_ids=True):
        raise _unreadable(path, "Permission denied")
    return found.st_size, found.st_mtime_ns


def _unreadable(path: Path, reason: str) -> RecordError:
    return RecordError(f"cannot be read: {reason}", where=str(path), remedy=RESTORE_RUN)
