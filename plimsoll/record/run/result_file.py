"""result.json and the journal held together: what the file says is what the run recorded.

The journal has the whole result in its event `finished`, and how many events came before it.
It is written first, so that a kill between the two leaves a file that is missing, which is
written again when the run is resumed, and never one that nothing vouches for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.whole_file import parsed_whole, write_whole
from plimsoll.record.run.journal import (
    FINISHED,
    RUN_REOPENED,
    RUN_RESUMED,
    Journal,
    JournalContents,
    JournalEvent,
    read_journal,
)
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.given_path import read_regular_file

M = TypeVar("M", bound=BaseModel)

_MAX_MIB = 256
_RESTORE = "restore result.json and journal.jsonl from one copy of the run"
_OTHER_VERSION = "read it with the version of plimsoll that wrote it, or restore it from a copy"


@dataclass(slots=True)
class RunEnd:
    """The last end of a run that the journal has; taken from its events in order.

    `result` is None before the first. `over` says that the run has not gone on since.
    """

    events: int = 0
    result: Any = None
    events_missing: int = 0
    over: bool = False

    def take(self, event: JournalEvent) -> None:
        """Add the next event."""
        if event.kind == FINISHED:
            before = event.fields.get("events_before")
            self.events_missing = before - self.events if isinstance(before, int) else 0
            self.result, self.over = event.fields.get("result"), True
        elif event.kind in (RUN_RESUMED, RUN_REOPENED):
            self.over = False
        self.events += 1

    @classmethod
    def of(cls, journal: JournalContents) -> RunEnd:
        """What the whole journal comes to."""
        end = cls()
        for event in journal.events:
            end.take(event)
        return end


def check_result(path: Path, content: bytes | None, end: RunEnd) -> None:
    """Hold the content of result.json, None where there is none, to the journal's end.

    Raises RecordError where they disagree.
    """
    if content is None:
        if end.over:
            raise _disagrees(path, "is missing, though the journal has the end of the run")
        return
    if end.result is None:
        raise _disagrees(path, "is there, but the journal next to it ends before its result")
    if end.events_missing:
        raise _disagrees(path, f"the journal next to it has lost {end.events_missing} events")
    found = _plain(content)
    if found is None:
        raise _disagrees(path, "is not valid JSON any more")
    if found != end.result:
        raise _disagrees(path, "was changed after the run: the journal has another result")


def read_run_result(run: RunDirectory, model: type[M]) -> M | None:
    """The run's result as a `model`; None while there is none.

    One that is missing though the journal has it is None, too: resuming the run writes it.
    Raises RecordError where it cannot be read, is of another make, or is not what the journal
    has.
    """
    content = read_result_file(run.result)
    if content is None:
        return None
    result = parsed_whole(run.result, content, model, _OTHER_VERSION)
    check_result(run.result, content, RunEnd.of(read_journal(run.journal)))
    return result


def read_result_file(path: Path) -> bytes | None:
    """The content of result.json; None where there is none. Raises RecordError."""
    try:
        return read_regular_file(path, _MAX_MIB, _RESTORE)
    except FileNotFoundError:
        return None
    except (OSError, InputError) as error:
        reason = error.message if isinstance(error, InputError) else error.strerror
        raise RecordError(f"cannot be read: {reason}", where=str(path), remedy=_RESTORE) from error


def restore_result(run: RunDirectory) -> None:
    """Write result.json anew where a kill came between the journal's last line and the file."""
    end = RunEnd.of(read_journal(run.journal))
    if end.over and not run.result.exists():
        _write(run, end.result)


def finish_run(run: RunDirectory, journal: Journal, result: BaseModel) -> None:
    """Write the journal's last event, then result.json. Raises RecordError."""
    # By way of its JSON, in which a number that JSON cannot hold is null.
    plain = json.loads(result.model_dump_json())
    journal.finish(plain)
    _write(run, plain)


def reopen_run(run: RunDirectory) -> None:
    """Let a run that has a result go on: the journal says so, then result.json goes."""
    with Journal(run.journal) as journal:
        journal.append(RUN_REOPENED)
    run.result.unlink()


def _write(run: RunDirectory, result: Mapping[str, object]) -> None:
    write_whole(run.result, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def _plain(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _disagrees(path: Path, what: str) -> RecordError:
    return RecordError(what, where=str(path), remedy=_RESTORE)
