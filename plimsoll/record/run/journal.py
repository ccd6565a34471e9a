"""The journal: every event of a run, one JSON object a line, on the disk as it happens.

The last field of a line, `crc32`, is the CRC-32 (as in zlib, eight hexadecimal digits) of the
line's bytes before `, "crc32"`. The field before it, `previous_sha256`, is the SHA-256 of the
line before (journal_chain.py); journals of earlier versions have none and are *unchained*. A
last line without a newline was torn by a kill and never counted; any other line whose checksum
does not fit, or that does not follow the one before it, is damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from plimsoll.record.files.growing_files import AppendFile, Closeable
from plimsoll.record.files.record_error import RecordError, in_one_line, write_failed
from plimsoll.record.trials.trial_record import TrialRecord

# The last two fields of a line: the link, and the line's own checksum.
PREVIOUS = "previous_sha256"
_LINK = re.compile(rb', "previous_sha256": "([0-9a-f]{64})", "crc32": "[0-9a-f]{8}"\}\n')
_LINK_BYTES = len(b', "previous_sha256": "", "crc32": "01234567"}\n') + 64


# The chain of a journal: each line carries the SHA-256 of the line before it.
#
# By it lines that were taken out, put in, copied or swapped are seen, although each still fits
# its own checksum; and the last line of a finished run stands for all before it and, by the
# checksums of files among them, for all that the run holds. Whoever writes all lines anew from
# the one that was changed on makes another chain that fits: that takes a signature to see.
def line_digest(line: bytes) -> str:
    """The SHA-256 of a line, without its end: what the next one carries."""
    return hashlib.sha256(line.removesuffix(b"\n")).hexdigest()


# What the first line carries: the SHA-256 of nothing.
BEGIN = line_digest(b"")


@dataclass(slots=True)
class JournalChain:
    """Takes the lines of a journal in order.

    `last` is the digest of the last one. `unchained` counts the lines without a link, which
    earlier versions wrote: they come before all that have one.
    """

    last: str = BEGIN
    chained: int = 0
    unchained: int = 0

    def take(self, line: bytes) -> None:
        """Add the next whole line. Raises ValueError where it does not follow the one before."""
        found = _LINK.fullmatch(line, max(0, len(line) - _LINK_BYTES))
        if found is not None and found[1].decode() != self.last:
            raise ValueError(
                "it does not follow the line before it: lines were taken out, put in or moved"
            )
        if found is None and self.chained:
            raise ValueError("it has no link to the line before it, as those before it have")
        self.chained += found is not None
        self.unchained += found is None
        self.last = line_digest(line)

    def copy(self) -> JournalChain:
        """To go on from here and keep this one."""
        return JournalChain(self.last, self.chained, self.unchained)


# The kinds that readers of the record know. Others may be written and are kept.
RUN_STARTED = "run-started"
RUN_RESUMED = "run-resumed"
RUN_REOPENED = "run-reopened"
LAB_UP = "lab-up"
CALIBRATION = "calibration"
TRIAL_STARTED = "trial-started"
TRIAL = "trial"
WINDOW = "window"
SPIKES_LEFT_OUT = "spikes-left-out"
FILES = "files"
LINE_CUT = "line-cut"
# Of a churn, whose cells are no trials.
PERIOD_BEGUN = "churn-period"
DIED = "died"
FAULT = "fault"
FINISHED = "finished"
_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"\}\n')
_CHECKSUM_BYTES = len(b', "crc32": "01234567"}\n')


@dataclass(frozen=True, slots=True)
class JournalEvent:
    """One line: what happened (`kind`), when (UTC, ns since the epoch), and its facts.

    `chained` says whether it has a link to the line before it.
    """

    kind: str
    at_unix_ns: int
    fields: Mapping[str, object]
    chained: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class JournalContents:
    """All events in order. `torn` says that a last line without its newline was left out.

    `known_trials` are the finished trials where they have been parsed already. `chain` says
    what the lines' links come to.
    """

    events: tuple[JournalEvent, ...] = ()
    torn: bool = False
    sound_bytes: int = 0
    known_trials: tuple[TrialRecord, ...] | None = None
    chain: JournalChain = field(default_factory=JournalChain)

    @property
    def unchained(self) -> bool:
        """Whether there are lines that earlier versions wrote, which have no links."""
        return self.chain.unchained > 0

    def of_kind(self, kind: str) -> tuple[JournalEvent, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self.events if event.kind == kind)

    @property
    def failures(self) -> tuple[str, ...]:
        """What died, and what faults of Plimsoll's own ended sessions, in the journal's words."""
        found = (event for event in self.events if event.kind in (DIED, FAULT))
        return tuple(str(event.fields.get("what") or event.fields) for event in found)

    def trials(self) -> tuple[TrialRecord, ...]:
        """The finished trials, in order. Raises RecordError when one is of another version."""
        if self.known_trials is not None:
            return self.known_trials
        return tuple(_trial(event) for event in self.of_kind(TRIAL))

    def unfinished_trials(self) -> tuple[JournalEvent, ...]:
        """The trials that were started and never ended: cut short by a kill, or running."""
        finished = {trial.number for trial in self.trials()}
        started = self.of_kind(TRIAL_STARTED)
        return tuple(event for event in started if event.fields.get("number") not in finished)

    def next_trial_number(self) -> int:
        """One more than the highest number ever started, so that no number is used twice."""
        numbers = [event.fields.get("number") for event in self.of_kind(TRIAL_STARTED)]
        started = [number for number in numbers if isinstance(number, int)]
        return 1 + max([0, *started, *(trial.number for trial in self.trials())])


class Journal(Closeable):
    """Appends events; each is on the disk when `append` returns. Raises RecordError."""

    def __init__(self, path: Path) -> None:
        """Open for appending; a torn last line is cut off, a damaged one is an error.

        What is appended follows the last whole line; where one was cut off, an event says so.
        """
        contents = read_journal(path)
        if contents.torn:
            _cut(path, contents.sound_bytes)
        self._events = len(contents.events)
        self._last = contents.chain.last
        self._file = AppendFile(path, sync=True)
        if contents.torn and contents.events:
            self.append(LINE_CUT, after_line=self._events)

    def append(self, kind: str, /, **fields: object) -> JournalEvent:
        """Record that `kind` happened now. `fields` must be JSON values."""
        event = JournalEvent(kind, time.time_ns(), fields, chained=True)
        line = journal_line(event, self._last)
        self._file.append([line])
        self._events += 1
        self._last = line_digest(line.encode())
        return event

    def finish(self, result: object) -> None:
        """Record the run's end: its result as JSON, and how many events came before."""
        self.append(FINISHED, result=result, events_before=self._events)

    def close(self) -> None:
        """Close the file; safe to repeat."""
        self._file.close()


class JournalFollower:
    """Reads a journal again and again while it grows, and parses each line once.

    Thousands of trials would otherwise be parsed anew before every trial.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._contents = JournalContents(known_trials=())

    def read(self) -> JournalContents:
        """All that the journal holds by now. Raises RecordError as `read_journal` does."""
        known = self._contents
        lines = _lines(self._path, known.sound_bytes)
        fresh = _parse(self._path, lines, len(known.events), known.chain.copy())
        self._contents = JournalContents(
            events=(*known.events, *fresh.events),
            torn=fresh.torn,
            sound_bytes=known.sound_bytes + fresh.sound_bytes,
            known_trials=(*known.trials(), *fresh.trials()),
            chain=fresh.chain,
        )
        return self._contents


def read_journal(path: Path) -> JournalContents:
    """Read a journal, also one that is being written; without a file there are no events.

    A last line without its newline, as a kill leaves it, is left out and reported as `torn`.
    Raises RecordError naming the line when any other line is damaged, the last one included.
    """
    return _parse(path, _lines(path, 0), 0, JournalChain())


def journal_line(event: JournalEvent, previous: str | None = None) -> str:
    """The line of an event, with its checksum and without its end.

    `previous` is the digest of the line before it; without, it is one of an unchained journal.
    """
    fields = {"kind": event.kind, "at_unix_ns": event.at_unix_ns, **event.fields}
    if previous is not None:
        fields[PREVIOUS] = previous
    text = json.dumps(fields, ensure_ascii=False)[:-1]
    return f'{text}, "crc32": "{zlib.crc32(text.encode()):08x}"}}'


def _lines(path: Path, begin: int) -> list[bytes]:
    """Those from the byte `begin` on; none without a file."""
    try:
        with path.open("rb") as file:
            file.seek(begin)
            return list(file)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _damaged(path, "the file", str(error)) from error


def _parse(
    path: Path, lines: Sequence[bytes], lines_before: int, chain: JournalChain
) -> JournalContents:
    whole = [line for line in lines if line.endswith(b"\n")]
    return JournalContents(
        tuple(_numbered_events(path, whole, lines_before, chain)),
        torn=len(whole) < len(lines),
        sound_bytes=sum(map(len, whole)),
        chain=chain,
    )


def _numbered_events(
    path: Path, lines: Sequence[bytes], lines_before: int, chain: JournalChain
) -> Iterator[JournalEvent]:
    """The events of whole lines. Raises RecordError naming the first that is damaged."""
    for number, line in enumerate(lines, start=lines_before + 1):
        try:
            yield parse_event(line)
            chain.take(line)
        except ValueError as error:
            raise _damaged(path, f"line {number}", str(error)) from error


def parse_event(line: bytes) -> JournalEvent:
    """The event of one line. Raises ValueError for one that is damaged."""
    sum_at = len(line) - _CHECKSUM_BYTES
    found = _CHECKSUM.fullmatch(line, max(0, sum_at))
    if found is None:
        raise ValueError("no checksum at its end; it is damaged or of an earlier version")
    if int(found[1], 16) != zlib.crc32(line[:sum_at]):
        raise ValueError("its checksum does not fit; it was changed after it was written")
    try:
        fields = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    kind, at_unix_ns = fields.pop("kind", None), fields.pop("at_unix_ns", None)
    del fields["crc32"]
    chained = fields.pop(PREVIOUS, None) is not None
    if not isinstance(kind, str) or not isinstance(at_unix_ns, int):
        raise ValueError("no kind or no time")
    return JournalEvent(kind, at_unix_ns, fields, chained)


def _trial(event: JournalEvent) -> TrialRecord:
    try:
        return TrialRecord.model_validate_json(json.dumps(event.fields.get("trial")))
    except ValidationError as error:
        raise RecordError(
            f"a trial in the journal does not fit this version of plimsoll: {in_one_line(error)}",
            where="journal.jsonl",
            remedy="read the run with the version of plimsoll that its environment.json names",
        ) from error


def _damaged(path: Path, place: str, reason: str) -> RecordError:
    return RecordError(
        f"{place} is damaged: {reason}",
        where=str(path),
        remedy="restore it from a copy of the run",
    )


def _cut(path: Path, length: int) -> None:
    try:
        os.truncate(path, length)
    except OSError as error:
        raise write_failed(path, error) from error
