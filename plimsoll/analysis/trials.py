"""The trials of an opened run, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from plimsoll.analysis.table import Column, PlainTable
from plimsoll.analysis.trial import Trial, TrialBegins, TrialStart
from plimsoll.analysis.trial_tables import stream_table
from plimsoll.errors import InputError
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict

_COLUMNS = (
    Column("number", "integer"),
    Column("phase", "text"),
    Column("load_pps", "number"),
    Column("offered_pps", "number"),
    Column("attempt", "integer"),
    Column("verdict", "text"),
    Column("begin", "time"),
    Column("planned_s", "number"),
    Column("sending_s", "number"),
    Column("ended_by", "text"),
    Column("goal", "text"),
    Column("sent", "integer"),
    Column("lost", "integer"),
    Column("reasons", "text"),
)


class Trials(Sequence[Trial]):
    """Trials by their place, from 0; `numbered` finds one by its number."""

    def __init__(self, run_id: str, trials: Iterable[Trial]) -> None:
        self._run_id = run_id
        self._trials = tuple(trials)

    @overload
    def __getitem__(self, place: int) -> Trial: ...
    @overload
    def __getitem__(self, place: slice) -> Trials: ...
    def __getitem__(self, place: int | slice) -> Trial | Trials:
        if isinstance(place, slice):
            return Trials(self._run_id, self._trials[place])
        return self._trials[place]

    def __len__(self) -> int:
        return len(self._trials)

    def numbered(self, number: int) -> Trial:
        """The trial with this number. Raises InputError where there is none."""
        for trial in self._trials:
            if trial.number == number:
                return trial
        numbers = [trial.number for trial in self._trials]
        there = f"there are {numbers[0]} to {numbers[-1]}" if numbers else "there is none yet"
        raise InputError(f"there is no trial {number}", where=self._run_id, remedy=there)

    def where(self, *, phase: str | None = None, verdict: Verdict | None = None) -> Trials:
        """Those of a phase, a verdict, or both."""
        return self.that(
            lambda trial: (
                (phase is None or trial.phase == phase)
                and (verdict is None or trial.verdict == verdict)
            )
        )

    def that(self, holds: Callable[[Trial], bool]) -> Trials:
        """Those of which `holds` is true."""
        return Trials(self._run_id, filter(holds, self._trials))

    def table(self) -> PlainTable:
        """A row for each trial; frames are those of all its streams together."""
        return PlainTable(f"Trials of {self._run_id}", _COLUMNS, map(_row, self._trials))

    def stream_table(self) -> PlainTable:
        """A row for each stream of each trial that ended: losses, and latency quantiles in ns."""
        records = [trial.record for trial in self._trials if trial.record]
        return stream_table(f"Streams of the trials of {self._run_id}", records)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def trials_of(run: RunDirectory, journal: JournalContents) -> Trials:
    """All trials that the journal tells of, by number, those without an end among them."""
    records = {record.number: record for record in journal.trials()}
    starts = {number: TrialStart.of_record(record) for number, record in records.items()}
    for event in journal.unfinished_trials():
        start = TrialStart.of_event(event)
        if start is not None:
            starts[start.number] = start
    begins = TrialBegins(run, starts)
    trials = (Trial(run, starts[n], records.get(n), begins) for n in sorted(starts))
    return Trials(run.run_id, trials)


def _row(trial: Trial) -> tuple[object, ...]:
    record = trial.record
    return (
        trial.number,
        trial.phase,
        trial.load_pps,
        trial.offered_pps,
        trial.attempt,
        trial.verdict,
        trial.begin,
        trial.planned_s,
        trial.sending_s,
        record.ended_by if record else None,
        record.goal if record else None,
        sum(stream.sent for stream in trial.streams) if record else None,
        sum(stream.lost for stream in trial.streams) if record else None,
        "; ".join(finding.text for finding in trial.reasons) or None,
    )
