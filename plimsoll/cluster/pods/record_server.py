"""Hands out a run directory over standard input and output, and takes one in.

`python -m plimsoll.cluster.pods.record_server FOLDER`, started by exec in the container that
keeps the volume of the record. A request is a JSON object a line; a reply is one, too, followed
by the bytes that it announces:

    {"request": "look", "have": {"RUN/journal.jsonl": [SIZE, MTIME_NS]}}
        {"files": [{"name": …, "size": …, "mtime_ns": …, "offset": …, "length": …}], "marks": […]}
    {"request": "put", "name": "RUN/journal.jsonl", "length": N}, then N bytes
        {"put": "RUN/journal.jsonl"}
    {"request": "mark", "name": "begin"}
        {"marked": "begin"}
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from plimsoll.errors import MachineError
from plimsoll.host.entry.entry_point import enter
from plimsoll.record.index.run_files import is_run_file

# What the run said, next to its directory; and what each side tells the other by a file's being
# there: that it may begin, that it is to end in good order, that it has ended (with its status).
OUTPUT = "output.log"
STATUS = "status.json"
BEGIN, STOP = "begin", "stop"
MARKS = (BEGIN, STOP)
# Written at the end alone, so that what a receiver has of them stays as it is.
GROWING = (".jsonl", ".hlog", ".log")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", re.ASCII)


def is_carried(name: str) -> bool:
    """Whether a path below the volume, with slashes, is one of a run's own files."""
    run, slash, rest = name.partition("/")
    if not slash:
        return name in (OUTPUT, STATUS)
    return _RUN.fullmatch(run) is not None and is_run_file(rest)


_BLOCK_BYTES = 1 << 18
# In one answer; what is left comes with the next.
_MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class FilePart:
    """Of a file of that size, changed last at `mtime_ns`: `length` bytes from `offset` on."""

    name: str
    size: int
    mtime_ns: int
    offset: int
    length: int


class _OpenPart(NamedTuple):
    file: BinaryIO
    part: FilePart


def serve(root: Path, requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until `requests` ends."""
    for line in requests:
        request = json.loads(line)
        match request:
            case {"request": "look", "have": dict(have)}:
                _look(root, have, replies)
            case {"request": "put", "name": str(name), "length": int(length)} if is_carried(name):
                _take(root / name, length, requests)
                _reply(replies, {"put": name})
            case {"request": "mark", "name": str(name)} if name in MARKS:
                (root / name).touch()
                _reply(replies, {"marked": name})
            case _:
                raise MachineError(f"not known: {line[:80]!r}", where="a request")
        replies.flush()


def _look(root: Path, have: Mapping[str, Any], replies: BinaryIO) -> None:
    """Send what is new: the journal first, so that it tells of nothing that is not sent."""
    with contextlib.ExitStack() as stack:
        changed = list(_changed(root, have, stack))
        marks = [name for name in MARKS if (root / name).exists()]
        _reply(replies, {"files": [asdict(each.part) for each in changed], "marks": marks})
        for each in changed:
            each.file.seek(each.part.offset)
            _copy(each.file, replies, each.part.length)


def _changed(
    root: Path, have: Mapping[str, Any], stack: contextlib.ExitStack
) -> Iterator[_OpenPart]:
    total = 0
    for name in _names(root):
        try:
            file = stack.enter_context((root / name).open("rb"))
        except FileNotFoundError:
            continue
        # Of the open file: another of its name may be there by now.
        status = os.fstat(file.fileno())
        known = have.get(name)
        if known == [status.st_size, status.st_mtime_ns] or total > _MAX_BYTES:
            continue
        offset = _offset(name, known, status.st_size)
        length = status.st_size - offset
        total += length
        yield _OpenPart(file, FilePart(name, status.st_size, status.st_mtime_ns, offset, length))


def _offset(name: str, known: Any, size: int) -> int:
    """Where to begin: what only grows is sent from where the receiver has it."""
    if not name.endswith(GROWING) or not isinstance(known, list) or not known:
        return 0
    return int(known[0]) if 0 <= int(known[0]) <= size else 0


def _names(root: Path) -> Iterator[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    carried = [name for name in found if is_carried(name) and not (root / name).is_symlink()]
    yield from sorted(carried, key=lambda name: (not name.endswith("journal.jsonl"), name))


def _take(path: Path, length: int, requests: BinaryIO) -> None:
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.put")
    with unfinished.open("wb") as file:
        _copy(requests, file, length)
    unfinished.replace(path)


def _copy(source: BinaryIO, target: BinaryIO, length: int) -> None:
    while length > 0:
        block = source.read(min(length, _BLOCK_BYTES))
        if not block:
            raise MachineError("the other end hung up, or a file became shorter")
        target.write(block)
        length -= len(block)


def _reply(replies: BinaryIO, reply: Mapping[str, object]) -> None:
    replies.write(json.dumps(reply).encode() + b"\n")


if __name__ == "__main__":
    enter(lambda: serve(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer))
