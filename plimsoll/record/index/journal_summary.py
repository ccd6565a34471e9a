"""What a run's summary takes from its journal, read line by line: a journal may be long."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_paths import LATEST_NS
from plimsoll.record.index.run_sources import RESTORE_RUN
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.methods.run_outcome import RunOutcome, trial_outcome
from plimsoll.record.run.journal import RUN_STARTED, TRIAL, JournalEvent, parse_event
from plimsoll.record.run.journal_chain import JournalChain
from plimsoll.record.run.result_file import RunEnd

# A thousand times what any port carries; what is beyond cannot be shown.
_MOST_PPS = 1e15


@dataclass(slots=True)
class JournalSummary:
    """Method and versions as recorded when the run started; times of its first and last event.

    `trials` ended; `single` is what the last of a `plimsoll trial` came to; `end` is what the
    journal has of the run's result.
    """

    method: str | None = None
    versions: Mapping[str, str | None] = field(default_factory=dict)
    first_unix_ns: int | None = None
    last_unix_ns: int | None = None
    trials: int = 0
    single: RunOutcome | None = None
    end: RunEnd = field(default_factory=RunEnd)

    def take(self, event: JournalEvent) -> None:
        """Add the next event. Raises ValueError for one that says what it cannot mean."""
        if not 0 <= event.at_unix_ns < LATEST_NS:
            raise ValueError("a time out of range")
        if self.first_unix_ns is None:
            self.first_unix_ns = event.at_unix_ns
        self.last_unix_ns = event.at_unix_ns
        self.end.take(event)
        if event.kind == RUN_STARTED and self.method is None:
            self._begin(event.fields)
        elif event.kind == TRIAL:
            self.trials += 1
            self._end_trial(event.fields.get("trial"))

    def _begin(self, fields: Mapping[str, Any]) -> None:
        method, versions = fields.get("method"), fields.get("versions")
        # Runs of the first version recorded no method: there was one only.
        self.method = method if isinstance(method, str) else LOAD_LINE
        if isinstance(versions, dict):
            self.versions = {k: v for k, v in versions.items() if isinstance(v, str | None)}

    def _end_trial(self, trial: object) -> None:
        if not isinstance(trial, dict) or trial.get("phase") != "single":
            return
        load_pps, verdict, number = trial.get("load_pps"), trial.get("verdict"), trial.get("number")
        if not isinstance(load_pps, int | float) or not isinstance(number, int):
            raise ValueError("a trial without load or number")
        if not 0 <= load_pps < _MOST_PPS:
            raise ValueError("a load out of range")
        if verdict not in ("pass", "fail", "invalid", "none"):
            raise ValueError("a trial without verdict")
        self.single = trial_outcome(load_pps, verdict, number)


def read_journal_summary(path: Path) -> JournalSummary:
    """The summary of a journal, also of one that is being written.

    A last line without its newline, as a kill leaves it, is left out. Raises RecordError
    naming any other line that is damaged.
    """
    summary, chain = JournalSummary(), JournalChain()
    try:
        for number, line in enumerate(_lines(path), start=1):
            if not line.endswith(b"\n"):
                break
            try:
                summary.take(parse_event(line))
                chain.take(line)
            except ValueError as error:
                mistake = f"line {number} is damaged: {error}"
                raise RecordError(mistake, where=str(path), remedy=RESTORE_RUN) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordError(
            f"cannot be read: {reason}", where=str(path), remedy=RESTORE_RUN
        ) from error
    return summary


def _lines(path: Path) -> Iterator[bytes]:
    # As with any file of a run that others may have made: a pipe must not hold us up.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        yield from file
