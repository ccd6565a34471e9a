"""The runs of a question, and which of their files hold the periods queried."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import get_args

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_paths import looks_like_run
from plimsoll.record.metrics.metrics import metric_parts
from plimsoll.record.query.metric_query import ALL_PERIODS, MEASUREMENT
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.primary_trial import primary_trial_number, trials_by_phase
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_parts import TrialPhase

# Python makes no int of thousands of digits.
_TRIAL_NUMBER = re.compile(r"[0-9]{1,9}")
_PHASES: Collection[str] = get_args(TrialPhase)
_MAX_LISTED = 8


def matching_periods(word: str, run: RunDirectory, recorded: Collection[str]) -> tuple[str, ...]:
    """Of the periods that a run has metrics of, those that `word` means; none where it has none.

    A word is a period's name, the number of a trial, MEASUREMENT, ALL_PERIODS, or the phase of
    trials: validation.
    """
    if word == ALL_PERIODS:
        return tuple(recorded)
    named = [word]
    if word == MEASUREMENT:
        number = primary_trial_number(run)
        # Of a run whose journal tells of no trial, the last that has metrics.
        named = [max(recorded, default="") if number is None else trial_period(number)]
    elif _TRIAL_NUMBER.fullmatch(word):
        named = [trial_period(int(word))]
    elif word in _PHASES and word not in recorded:
        named = [trial_period(number) for number in trials_by_phase(run).get(word, ())]
    return tuple(period for period in named if period in recorded)


def unknown_period(word: str, recorded: Sequence[str]) -> InputError:
    """The error for a word that means none of the periods recorded."""
    listed = ", ".join(recorded[:_MAX_LISTED])
    more = f" and {len(recorded) - _MAX_LISTED} more" if len(recorded) > _MAX_LISTED else ""
    return InputError(
        f"{word!r} has no metrics",
        where="--period",
        remedy=f"use {MEASUREMENT}, {ALL_PERIODS}, the phase of trials such as validation, or "
        f"one of those recorded: {listed}{more}"
        if recorded
        else "nothing has been recorded yet: ask again when a trial has begun",
    )


_TRIAL = re.compile(r"(trial-\d{4,})(@.+)?(-\d{3,})?")


@dataclass(frozen=True, slots=True)
class PeriodFiles:
    """Files of one or more periods: Parquet, and JSON lines still being written."""

    finished: tuple[Path, ...] = ()
    growing: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.finished, *self.growing)

    @property
    def of_generator(self) -> PeriodFiles:
        """Without those that observers of hosts wrote."""
        kept = [[p for p in paths if "@" not in p.stem] for paths in (self.finished, self.growing)]
        return PeriodFiles(tuple(kept[0]), tuple(kept[1]))


@dataclass(frozen=True, slots=True)
class QueriedRun:
    """A run by its place in the question, what it is called in the answer, and its files.

    Those are of the periods that the word `period` means. `damage` is why its files cannot be
    listed, in which case it has none.
    """

    number: int
    label: str
    run: RunDirectory
    period: str
    files: PeriodFiles
    damage: RecordError | None = None

    def anew(self) -> QueriedRun:
        """With the files that it has now."""
        return replace(self, files=_files_of(recorded_periods(self.run), self.run, self.period))


def queried_runs(runs: Sequence[RunDirectory], period: str) -> list[QueriedRun]:
    """The runs with the files of this period. Raises InputError when none has such a period."""
    queried: list[QueriedRun] = []
    known: dict[str, None] = {}
    for number, (run, label) in enumerate(zip(runs, _labels(runs), strict=True)):
        try:
            periods = recorded_periods(run)
        except RecordError as error:
            queried.append(QueriedRun(number, label, run, period, PeriodFiles(), error))
            continue
        known.update(dict.fromkeys(periods))
        try:
            files = _files_of(periods, run, period)
        except RecordError as error:
            queried.append(QueriedRun(number, label, run, period, PeriodFiles(), error))
            continue
        queried.append(QueriedRun(number, label, run, period, files))
    found = any(run.files.paths or run.damage for run in queried)
    if not found and period not in (MEASUREMENT, ALL_PERIODS):
        raise unknown_period(period, sorted(known))
    return queried


def recorded_periods(run: RunDirectory) -> dict[str, PeriodFiles]:
    """The files of each period that has any, by its name, in order of the names."""
    finished, growing = metric_parts(run)
    names = sorted({_period_of(path) for path in (*finished, *growing)})
    return {
        name: PeriodFiles(_those_of(name, finished), _those_of(name, growing)) for name in names
    }


def _files_of(periods: Mapping[str, PeriodFiles], run: RunDirectory, word: str) -> PeriodFiles:
    found = [periods[name] for name in matching_periods(word, run, periods)]
    require_intact_paths(run, chain.from_iterable(files.finished for files in found))
    return PeriodFiles(
        tuple(chain.from_iterable(files.finished for files in found)),
        tuple(chain.from_iterable(files.growing for files in found)),
    )


def _those_of(period: str, paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(path for path in paths if _period_of(path) == period)


def _period_of(path: Path) -> str:
    trial = _TRIAL.fullmatch(path.stem)
    return trial[1] if trial else path.stem.partition("@")[0]


def _labels(runs: Sequence[RunDirectory]) -> list[str]:
    """Ids, or paths where two runs have the same id."""
    ids = [run.run_id for run in runs]
    return ids if len(set(ids)) == len(ids) else [str(run.path) for run in runs]


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
            remedy="plimsoll runs lists all runs; write the pattern in quotes",
        )
    yield from map(RunDirectory, paths)
