"""Making a run's summary from its record."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.host.processes.stop_request import uninterrupted
from plimsoll.record.files.record_error import RecordError, in_one_line
from plimsoll.record.index.run_paths import LATEST_NS, time_in_id
from plimsoll.record.index.run_summary import RESTORE_RUN, RunSources, RunSummary, keep_summary
from plimsoll.record.methods.method import LOAD_LINE, RunOutcome, trial_outcome
from plimsoll.record.methods.registry import outcome_of
from plimsoll.record.run.journal import RUN_STARTED, TRIAL, JournalChain, JournalEvent, parse_event
from plimsoll.record.run.result_file import RunEnd, check_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file

_OTHER_VERSION = "use the version of plimsoll that the run's environment.json names"
# Of what experiments and results can sensibly come to; a journal is read line by line.
_MAX_MIB = 256
_MAX_EXPERIMENT_MIB = 64
# A thousand times what any port carries; what is beyond cannot be shown.
_MAX_PPS = 1e15


def note_summary(run: RunDirectory) -> None:
    """Make and keep the summary of a run that begins or ends, as well as that can be done.

    A record that cannot be summarised is not spoiled by it: listing the run reports it.
    """
    with uninterrupted():
        try:
            sources = RunSources.of(run)
            keep_summary(run, summarise(run), sources)
        except RecordError:
            return


def summarise(run: RunDirectory) -> RunSummary:
    """The summary of a run in any state. Raises RecordError where its record is damaged."""
    journal, outcome = _read_outcome(run)
    experiment = _experiment(run.experiment)
    lab = _lab(run, experiment)
    return RunSummary(
        method=journal.method,
        name=_text(experiment.get("name")) or run.run_id,
        dut=_text(lab.get("kind")),
        model=_text(_mapping(lab.get("model")).get("kind")),
        began_unix_ns=journal.first_unix_ns or time_in_id(run.run_id),
        ended_unix_ns=None if outcome is None else journal.last_unix_ns,
        complete=outcome is not None and outcome.complete,
        answer=None if outcome is None else outcome.answer,
        verdict="none" if outcome is None else outcome.verdict,
        period=None if outcome is None else outcome.period,
        trials=journal.trials,
        versions=_versions(run) or journal.versions,
    )


def _read_outcome(run: RunDirectory) -> tuple[JournalSummary, RunOutcome | None]:
    journal = read_journal_summary(run.journal)
    try:
        return journal, _outcome(run, journal)
    except RecordError:
        # The run may have come to its end after its journal was read.
        journal = read_journal_summary(run.journal)
        return journal, _outcome(run, journal)


def _outcome(run: RunDirectory, journal: JournalSummary) -> RunOutcome | None:
    """None of a run that has not come to its result."""
    try:
        content = _content(run.result)
    except FileNotFoundError:
        # A run that ends at this moment writes it next.
        if not is_held(run.path / "lock"):
            check_result(run.result, None, journal.end)
        return journal.single
    try:
        # A run of a method that this version does not know has ended all the same.
        outcome = outcome_of(journal.method or LOAD_LINE, content) or RunOutcome()
    except ValidationError as error:
        no_json = error.errors(include_url=False)[0]["type"] == "json_invalid"
        raise RecordError(
            f"cannot be read: {in_one_line(error)}",
            where=str(run.result),
            remedy=RESTORE_RUN if no_json else _OTHER_VERSION,
        ) from error
    except (ValueError, OverflowError) as error:
        raise RecordError(
            f"cannot be read: {error}", where=str(run.result), remedy=RESTORE_RUN
        ) from error
    check_result(run.result, content, journal.end)
    return outcome


def _versions(run: RunDirectory) -> Mapping[str, str | None]:
    """Those of the environment, which knows the engine's; none where it cannot be read."""
    try:
        environment = _mapping(json.loads(_content(run.environment)))
    except (FileNotFoundError, RecordError, ValueError, RecursionError):
        return {}
    versions = _mapping(environment.get("versions"))
    return {name: version for name, version in versions.items() if isinstance(version, str | None)}


def _lab(run: RunDirectory, experiment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of a matrix, which is written as the user wrote it, that of its first iteration."""
    lab = _mapping(experiment.get("lab"))
    if "matrix" not in experiment or "kind" in lab:
        return lab
    try:
        first = _experiment(run.path / "iteration-0001" / run.experiment.name)
    except FileNotFoundError:
        return lab
    return _mapping(first.get("lab"))


def _experiment(path: Path) -> Mapping[str, Any]:
    try:
        experiment = load_yaml(_content(path, _MAX_EXPERIMENT_MIB).decode())
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise RecordError(f"is damaged: {reason}", where=str(path), remedy=RESTORE_RUN) from error
    if not isinstance(experiment, dict):
        raise RecordError("is damaged: not a mapping", where=str(path), remedy=RESTORE_RUN)
    return experiment


def _content(path: Path, most_mib: int = _MAX_MIB) -> bytes:
    """Raises FileNotFoundError, and RecordError for what cannot be read."""
    try:
        return read_regular_file(path, most_mib, RESTORE_RUN)
    except FileNotFoundError:
        raise
    except (OSError, InputError) as error:
        reason = error.message if isinstance(error, InputError) else error.strerror
        raise RecordError(
            f"cannot be read: {reason}", where=str(path), remedy=RESTORE_RUN
        ) from error


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# What a run's summary takes from its journal, read line by line: a journal may be long.
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
        if not 0 <= load_pps < _MAX_PPS:
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
