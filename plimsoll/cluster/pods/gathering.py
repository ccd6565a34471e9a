"""A run's files brought here from its pod, as they are written there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from plimsoll.cluster.pods.record_server import BEGIN, OUTPUT, STATUS, STOP, is_carried
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.index.run_files import run_files
from plimsoll.record.run.run_directory import RunDirectory

_ANSWER_S = 60.0
_BLOCK_BYTES = 1 << 18


class RecordStream(Protocol):
    """What is needed of an ExecStream."""

    def write(self, data: bytes) -> None:
        """To the command's input."""

    def read_line(self, timeout_s: float) -> bytes:
        """The next line of its output."""

    def read(self, length: int, timeout_s: float) -> bytes:
        """Exactly so many bytes of its output."""


class Gathering:
    """What of the pod's record is here by now. It lasts longer than a connection."""

    def __init__(self, run: RunDirectory, say: Callable[[str], None]) -> None:
        """`say` is called with each line that the run in the pod says."""
        self._run = run
        self._say = say
        self._have: dict[str, list[int]] = {}
        self._unsaid = b""
        # How the run there ended: its exit status; None while it runs.
        self.status: int | None = None
        self.begun = False

    def fetch(self, stream: RecordStream) -> None:
        """Bring what is new. Raises StreamEnded and RecordError."""
        while self._fetch(stream):
            pass

    def begin(self, stream: RecordStream, *, with_record: bool) -> None:
        """Let the run there begin, with what is recorded here if it is to go on with that."""
        if with_record:
            for path in run_files(self._run):
                name = f"{self._run.run_id}/{path.relative_to(self._run.path).as_posix()}"
                _put(stream, name, path)
        self._mark(stream, BEGIN)

    def stop(self, stream: RecordStream) -> None:
        """Have the run there end in good order."""
        self._mark(stream, STOP)

    def _mark(self, stream: RecordStream, name: str) -> None:
        _ask(stream, {"request": "mark", "name": name})

    def _fetch(self, stream: RecordStream) -> bool:
        """Whether there was anything new."""
        reply = _ask(stream, {"request": "look", "have": self._have})
        self.begun = BEGIN in reply.get("marks", ())
        files = reply.get("files")
        if not isinstance(files, list):
            raise _not_understood(reply)
        for each in files:
            try:
                self._take(stream, each)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise _not_understood({"file": each}) from None
        return bool(files)

    def _take(self, stream: RecordStream, file: Mapping[str, Any]) -> None:
        name, length, offset = file["name"], int(file["length"]), int(file["offset"])
        # What runs in the pod is not trusted with paths of this machine.
        if not is_carried(name) or offset not in (0, self._have.get(name, [0])[0]):
            raise _not_understood(file)
        if name == OUTPUT:
            self._speak(stream.read(length, _ANSWER_S))
        elif name == STATUS:
            self.status = int(json.loads(stream.read(length, _ANSWER_S))["exit_status"])
        else:
            self._write(stream, self._target(name), offset, length)
        self._have[name] = [int(file["size"]), int(file["mtime_ns"])]

    def _target(self, name: str) -> Path:
        run, _, rest = name.partition("/")
        if run != self._run.run_id:
            raise _not_understood({"name": name})
        return self._run.path / rest

    def _write(self, stream: RecordStream, path: Path, offset: int, length: int) -> None:
        """What grows is appended to; all else is there as a whole or as it was."""
        unfinished = path if offset else path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(exist_ok=True, parents=True)
            with unfinished.open("r+b" if offset else "wb") as file:
                file.seek(offset)
                while length > 0:
                    block = stream.read(min(length, _BLOCK_BYTES), _ANSWER_S)
                    file.write(block)
                    length -= len(block)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            if not offset:
                unfinished.replace(path)
        except OSError as error:
            raise write_failed(path, error) from error

    def _speak(self, text: bytes) -> None:
        *lines, self._unsaid = (self._unsaid + text).split(b"\n")
        for line in lines:
            self._say(line.decode(errors="replace"))


def _put(stream: RecordStream, name: str, path: Path) -> None:
    content = path.read_bytes()
    stream.write(
        json.dumps({"request": "put", "name": name, "length": len(content)}).encode() + b"\n"
    )
    stream.write(content)
    _answer(stream)


def _ask(stream: RecordStream, request: Mapping[str, object]) -> dict[str, Any]:
    stream.write(json.dumps(request).encode() + b"\n")
    return _answer(stream)


def _answer(stream: RecordStream) -> dict[str, Any]:
    line = stream.read_line(_ANSWER_S)
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise _not_understood({"line": line[:80].decode(errors="replace")})
    return reply


def _not_understood(reply: Mapping[str, Any]) -> StreamEnded:
    return StreamEnded(
        f"the pod gave an answer that is not understood: {str(dict(reply))[:200]}",
        where="pod",
        remedy="use an image of this version of Plimsoll",
    )
