"""What lies in a run directory that is no part of the run's record."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.listed_files import GROWING_FILES, ListedFiles

# The record's frame, which other rules check; what is drawn from it or said about it; and what
# is of the place: locks, the index, a cluster that a churn has brought up, files half written.
_FRAME = re.compile(
    r"journal\.jsonl|result\.json|report\.html|charts/[^/]+\.(svg|png)|tables/[^/]+\.csv"
    r"|notes\.json|notes\.lock"
    r"|summary\.json|lock|control-plane/.*|(.*/)?\.[^/]*\.(unfinished|[0-9]+|jsonl|parquet)"
)
# Complete only with the first trial, and known to none before.
_EARLY = re.compile(
    r"experiment\.yaml|environment\.json|audit\.json|audits/.*|matrix\.json"
    # What a trial has left that did not come to its end, until the run is resumed.
    r"|spikes\.jsonl(\.open)?|histograms\.hlog(\.open)?"
)
_PART = re.compile(r"iteration-\d+")


def unlisted_names(listed: ListedFiles) -> Iterator[str]:
    """Paths in the run directory, by name; the runs that a matrix is made of are not looked into.

    What the trial that goes on or was killed has written is none of them. Raises RecordError.
    """
    if not listed.closed:
        return
    journal = listed.journal
    writing = bool(journal.open_periods) or listed.held
    for name in _names(listed):
        known = name in journal.sums or name in journal.rewriting or _FRAME.fullmatch(name)
        early = not journal.over and _EARLY.fullmatch(name)
        going_on = writing and listed.of_open_trial(name)
        if not (known or early or going_on or _is_empty_rest(listed, name)):
            yield name


def _is_empty_rest(listed: ListedFiles, name: str) -> bool:
    """Whether it is a file that grew, of which all has been moved elsewhere."""
    return name in GROWING_FILES and not (listed.run.path / name).stat().st_size


def _names(listed: ListedFiles) -> Iterator[str]:
    root = listed.run.path
    for folder, folders, files in os.walk(root, onerror=_raise):
        if folder == os.fspath(root):
            folders[:] = [each for each in folders if not _PART.fullmatch(each)]
        folders.sort()
        within = os.path.relpath(folder, root)
        yield from (each if within == "." else f"{within}/{each}" for each in sorted(files))


def _raise(error: OSError) -> None:
    raise RecordError(
        f"cannot be looked into: {error.strerror or error}",
        where=str(error.filename),
        remedy="make the directory readable for you",
    ) from error
