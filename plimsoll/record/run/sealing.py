"""Recording the checksums of a run's files, in the journal's events `files`.

A file is taken when it is complete: with the trial that it is of, or at the run's end. What
grows (the histogram log) is taken by the stretch that came since the last time. Only the files
that a run writes anew as it goes on are taken again; any other keeps its first checksum, so
that damage is never recorded as if it were the run's own work. Nor is a foreign file:
of folders that is taken which the run has said to have written, or to write in a period.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.record.files.file_sum import FileSum
from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.run.file_check import check_files, first_error
from plimsoll.record.run.journal import FILES, Journal, JournalContents
from plimsoll.record.run.listed_files import JournalFiles, of_period
from plimsoll.record.run.run_directory import RunDirectory

_WHOLE = ("experiment.yaml", "environment.json", "audit.json", "matrix.json")
# By period: a trial's, or a churn's.
_FOLDERS = {"metrics": ".parquet", "scrapes": ".gz", "probes": ".gz"}
SPIKES = "spikes.parquet"
_GROWING = "histograms.hlog"
# These a run writes anew while it goes on; the audits when it is resumed on another boot.
_REWRITTEN = ("environment.json", "audit.json", "audits/", SPIKES)
# Device and inode are of no use: a copy of the run has others.
_Stamp = tuple[int, int]


class Seals:
    """Which of a run's files are recorded by now. For the run's only writer."""

    def __init__(self, run: RunDirectory, journal: JournalContents) -> None:
        """Go on after what the journal has.

        Raises RecordError where a file that the run is to write anew is damaged: what it holds
        would be taken into the new one.
        """
        self._run = run
        state = JournalFiles.of(journal.events)
        self._sums = state.sums
        # Those of the period in which a kill came.
        self._periods = set(state.open_periods)
        self._written: set[str] = set()
        error = first_error(check_files(run, self._sums, _REWRITTEN))
        if error is not None:
            raise error
        self._stamps = {name: _stamp(run.path / name) for name in self._sums}

    @property
    def open_periods(self) -> frozenset[str]:
        """Those whose files are not recorded yet."""
        return frozenset(self._periods)

    def begin_period(self, period: str) -> None:
        """Take the files of this period, by their names, when `record` is called next."""
        self._periods.add(period)

    def wrote(self, *paths: Path) -> None:
        """Take these files of the run as well."""
        self._written.update(path.relative_to(self._run.path).as_posix() for path in paths)

    def record(self, journal: Journal) -> None:
        """Record what is new or was written anew since the last time. Raises RecordError."""
        found = dict(self._unrecorded())
        if found:
            journal.append(FILES, sums={name: each.fields for name, each in found.items()})
            for name, each in found.items():
                earlier = self._sums.get(name, []) if each.begin else []
                self._sums[name] = [*earlier, each]
            self._periods.clear()
            self._written.clear()

    def open(self, journal: Journal, names: tuple[str, ...] = _REWRITTEN) -> None:
        """Take back the checksums of what is about to be written anew. Raises RecordError.

        A kill before the new ones are recorded would else leave a sound file that looks
        damaged.
        """
        opened = [name for name in self._sums if name.startswith(names)]
        if opened:
            journal.append(FILES, sums={}, rewriting=opened)
            for name in opened:
                del self._sums[name]
            # Where they are not written anew after all, they are what they were.
            self._written.update(opened)

    def _unrecorded(self) -> Iterator[tuple[str, FileSum]]:
        for name in self._names():
            stamp, begin = _stamp(self._run.path / name), 0
            known = self._sums.get(name)
            if known and stamp == self._stamps.get(name):
                continue
            if known and name == _GROWING:
                begin = known[-1].end
            elif known and not name.startswith(_REWRITTEN):
                continue
            self._stamps[name] = stamp
            yield name, _sum(self._run.path / name, begin)

    def _names(self) -> Iterator[str]:
        folder = self._run.path
        named = dict.fromkeys((*_WHOLE, SPIKES, _GROWING, *sorted(self._written)))
        yield from (name for name in named if (folder / name).is_file())
        for name, suffix in _FOLDERS.items() if self._periods else ():
            for each in _listed(folder / name):
                own = any(of_period(each, period) for period in self._periods)
                if own and each.endswith(suffix):
                    yield f"{name}/{each}"


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise write_failed(folder, error) from error


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _sum(path: Path, begin: int) -> FileSum:
    try:
        return FileSum.of(path, begin)
    except OSError as error:
        raise RecordError(
            f"cannot be read back for its checksum: {error.strerror or error}",
            where=str(path),
            remedy="look after the disk; finished trials are kept",
        ) from error
