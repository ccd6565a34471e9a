"""How trials of a run begin, and when: also of those that have not ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.journal import JournalEvent
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import TrialRecord

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class TrialStart:
    """What a run tells of a trial before its end.

    `begin_unix_ns` is when its first frame was sent; of a trial that has not ended, when the
    journal says that it was started.
    """

    number: int
    phase: str
    load_pps: float
    attempt: int
    planned_s: float
    begin_unix_ns: int
    ended: bool

    @classmethod
    def of_record(cls, record: TrialRecord) -> Self:
        """Of a trial that ended."""
        return cls(
            number=record.number,
            phase=record.phase,
            load_pps=record.load_pps,
            attempt=record.attempt,
            planned_s=record.planned_s,
            begin_unix_ns=record.begin_unix_ns,
            ended=True,
        )

    @classmethod
    def of_event(cls, event: JournalEvent) -> Self | None:
        """Of one that was started; None where the event does not say enough."""
        fields = event.fields
        number, phase, attempt = fields.get("number"), fields.get("phase"), fields.get("attempt")
        load_pps, planned_s = fields.get("load_pps"), fields.get("planned_s")
        if not isinstance(number, int) or not isinstance(phase, str):
            return None
        if not isinstance(load_pps, int | float) or not isinstance(planned_s, int | float):
            return None
        return cls(
            number=number,
            phase=phase,
            load_pps=load_pps,
            attempt=attempt if isinstance(attempt, int) else 1,
            planned_s=planned_s,
            begin_unix_ns=event.at_unix_ns,
            ended=False,
        )


class TrialBegins:
    """When the trials of a run began.

    Those that have not ended began with their first metrics, where there are any: the journal
    tells of them a little early, and of simulated ones in another time.
    """

    def __init__(self, run: RunDirectory, starts: Mapping[int, TrialStart]) -> None:
        """`starts` are all of the run, by number."""
        self._run = run
        self._starts = starts

    @cached_property
    def unix_ns(self) -> Mapping[int, int]:
        """By number. Raises RecordError."""
        begins = {number: start.begin_unix_ns for number, start in self._starts.items()}
        numbers = {trial_period(n): n for n, start in self._starts.items() if not start.ended}
        if numbers:
            statement = "SELECT period, min(begin_ms) FROM rows GROUP BY period"
            for period, begin_ms in query_metrics(self._run, statement, periods=list(numbers)):
                begins[numbers[period]] = begin_ms * _NS_PER_MS
        return begins
