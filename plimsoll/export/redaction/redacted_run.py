"""A copy of a run without what says whose it is, and which still is a whole record.

Checksums are made anew, as the run itself would have made them. What is drawn from the record
(page, charts, tables, summary) is not copied: it is to be drawn again from the copy.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from plimsoll.export.redaction.pseudonyms import (
    Pseudonyms,
    parquet_texts,
    replace_parquet_text,
    replaced_within,
)
from plimsoll.record.files.record_error import RecordError, write_failed
from plimsoll.record.files.whole_file import FileSum, write_whole
from plimsoll.record.index.run_files import run_files
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.file_check import recorded_sums
from plimsoll.record.run.journal import (
    BEGIN,
    FILES,
    JournalEvent,
    journal_line,
    line_digest,
    read_journal,
)
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.bounded_yaml import load_yaml

_DRAWN = ("report.html", "charts/", "tables/", "summary.json")
_NOTES = "notes.json"
_JOURNAL = "journal.jsonl"
_DOCUMENTS = (".json", ".yaml", ".parquet", ".hlog")
_GENERIC_USERS = frozenset({"root", "user", "nobody", "plimsoll", "admin"})
_GENERIC_HOSTS = frozenset({"localhost", "localhost.localdomain", "none", "unknown", "-"})
_HOST_KEYS = frozenset({"host", "hostname", "nodename", "fqdn"})
_SERIAL_KEY = re.compile(r"serial|asset.?tag|service.?tag|machine.?id|\buuid\b", re.IGNORECASE)
_SERIAL_TEXT = re.compile(
    r"\b(?:serial(?:[ _-]?(?:number|no))?|s/n|service[ _-]tag|asset[ _-]tag)\b[\s:=#.]*"
    r"([A-Za-z0-9][A-Za-z0-9._-]{4,})",
    re.IGNORECASE,
)
_HOME = re.compile(r"/(?:home|Users|export/home|var/home)/([A-Za-z0-9._-]+)")
_BUILDER = re.compile(r"\(([A-Za-z][\w.-]*)@([\w.-]+)\)")
_SSH_KEYS = frozenset({"ssh", "host", "address", "bmc"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,252}")
_SHORTEST_SERIAL = 5
NamedIdentity = tuple[str, str]


def redactor_of(run: RunDirectory, words: Iterable[str] = ()) -> Pseudonyms:
    """What is to be replaced in the run: the names in its record, the user's own, and `words`.

    Raises RecordError where the record cannot be read.
    """
    found: list[NamedIdentity] = [("name", word) for word in words]
    found += own_identities()
    for path in _copied(run):
        for document in _documents(path):
            found += identities_in(document)
    return Pseudonyms(with_short_names(found))


def write_redacted(run: RunDirectory, target: Path, pseudonyms: Pseudonyms) -> RunDirectory:
    """Write the copy below `target`, by the run's own id with its names replaced.

    The record must be intact. Raises RecordError where it cannot be read or written, and where
    a name could not be taken out of some file.
    """
    copy = RunDirectory(target / pseudonyms.words_in(run.run_id))
    for path in _copied(run):
        name = path.relative_to(run.path).as_posix()
        _write(path, copy.path / pseudonyms.words_in(name), pseudonyms)
    for part in (*part_paths(run.path), run.path):
        _write_journal(part, copy.path / part.relative_to(run.path), pseudonyms)
    _check(copy, pseudonyms)
    return copy


def _copied(run: RunDirectory) -> Iterator[Path]:
    for path in run_files(run):
        name = path.relative_to(run.path).as_posix()
        own = name.split("/sample-")[-1].partition("/")[2] if "/sample-" in name else name
        drawn = own.startswith(_DRAWN) or path.name in _DRAWN
        if path.name == _JOURNAL or (path.suffix in _DOCUMENTS and not drawn):
            yield path


def _documents(path: Path) -> Iterator[object]:
    """What a file holds, in pieces."""
    if path.suffix == ".parquet":
        yield from map(_parsed, parquet_texts(path))
    elif path.suffix == ".hlog":
        yield from (line.partition(",")[0] for line in _text(path).splitlines())
    elif path.name == _JOURNAL:
        yield from (event.fields for event in read_journal(path).events)
    else:
        yield _parsed(_text(path)) if path.suffix == ".json" else load_yaml(_text(path))


def _parsed(text: str) -> object:
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _write(path: Path, target: Path, pseudonyms: Pseudonyms) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_failed(target, error) from error
    if path.suffix == ".parquet":
        replace_parquet_text(path, target, pseudonyms.text)
    elif path.suffix == ".hlog":
        lines = _text(path).splitlines(keepends=True)
        write_whole(target, "".join(_hlog_line(each, pseudonyms) for each in lines))
    elif path.name != _JOURNAL:
        write_whole(target, _document_text(path, pseudonyms))


def _hlog_line(line: str, pseudonyms: Pseudonyms) -> str:
    """Comments and tags; what follows a tag are numbers and a histogram in base64."""
    tag, comma, rest = line.partition(",")
    if line.startswith("#") or not comma:
        return pseudonyms.text(line)
    return f"{pseudonyms.text(tag)}{comma}{rest}"


def _document_text(path: Path, pseudonyms: Pseudonyms) -> str:
    if path.suffix == ".yaml":
        document = replaced_within(load_yaml(_text(path)), pseudonyms.text)
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    document = replaced_within(_json(path), pseudonyms.text)
    if path.name == _NOTES and isinstance(document, dict):
        # Free text, of which no program knows what it says.
        document["notes"] = []
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _write_journal(source: Path, target: Path, pseudonyms: Pseudonyms) -> None:
    """The same events, but for the checksums of files: those of the copy, all in the last."""
    journal = read_journal(source / _JOURNAL)
    names = map(pseudonyms.words_in, recorded_sums(journal))
    sums = {name: FileSum.of(target / name).fields for name in names if (target / name).is_file()}
    places = [place for place, event in enumerate(journal.events) if event.kind == FILES]
    lines: list[str] = []
    last = BEGIN
    for place, event in enumerate(journal.events):
        fields = {
            key: replaced_within(value, pseudonyms.text) for key, value in event.fields.items()
        }
        if event.kind == FILES:
            fields = {"sums": sums if place == places[-1] else {}}
        made = JournalEvent(event.kind, event.at_unix_ns, fields)
        lines.append(journal_line(made, last if event.chained else None))
        last = line_digest(lines[-1].encode())
    write_whole(target / _JOURNAL, "".join(f"{line}\n" for line in lines))


def _check(copy: RunDirectory, pseudonyms: Pseudonyms) -> None:
    """Raises RecordError where a name is left, which no rule above has found."""
    for path in _copied(copy):
        texts = parquet_texts(path) if path.suffix == ".parquet" else _plain_texts(path)
        for text in (str(path.relative_to(copy.path)), *texts):
            if (word := pseudonyms.remain_in(text)) is not None:
                raise RecordError(
                    f"the name {word!r} could not be taken out",
                    where=path.relative_to(copy.path).as_posix(),
                    remedy="report this as a bug; nothing was written",
                )


def _plain_texts(path: Path) -> Iterator[str]:
    lines = _text(path).splitlines()
    yield from (line.partition(",")[0] for line in lines) if path.suffix == ".hlog" else lines


def _json(path: Path) -> object:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, reason: str) -> RecordError:
    return RecordError(
        f"cannot be read: {reason}", where=str(path), remedy="restore it from a copy of the run"
    )


# Whose a run is: the names of hosts, users and things that its record has.
def identities_in(value: Any, key: str = "") -> Iterator[NamedIdentity]:
    """(kind, name) of all that a document of the record names; "host", "user" or "serial"."""
    if isinstance(value, Mapping):
        for inner_key, inner in value.items():
            yield from identities_in(inner, str(inner_key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from identities_in(inner, key)
    elif isinstance(value, str):
        yield from _of_text(value)
        yield from _of_field(value, key.lower())


def own_identities(environment: Mapping[str, str] = os.environ) -> Iterator[NamedIdentity]:
    """The user who redacts, who is mostly the one who ran."""
    names = [environment.get(name, "") for name in ("SUDO_USER", "USER", "LOGNAME")]
    with contextlib.suppress(KeyError, OSError):
        names.append(getpass.getuser())
    yield from (("user", name) for name in names if _is_name(name, _GENERIC_USERS))


def with_short_names(found: Iterable[NamedIdentity]) -> tuple[NamedIdentity, ...]:
    """Each once, and of a fully qualified host name its first label, too."""
    names: dict[str, NamedIdentity] = {}
    for kind, name in found:
        names.setdefault(name.casefold(), (kind, name))
        label = name.partition(".")[0]
        if kind == "host" and _is_name(label, _GENERIC_HOSTS) and not label.isdecimal():
            names.setdefault(label.casefold(), (kind, label))
    return tuple(names.values())


def _of_field(value: str, key: str) -> Iterator[NamedIdentity]:
    if key in _HOST_KEYS and _is_name(value, _GENERIC_HOSTS):
        yield "host", value
    if key in _SSH_KEYS:
        user, at, host = value.rpartition("@")
        if at and _is_name(user, _GENERIC_USERS):
            yield "user", user
        if (at or key == "ssh") and _is_name(host, _GENERIC_HOSTS):
            yield "host", host
    if _SERIAL_KEY.search(key) and len(value) >= _SHORTEST_SERIAL and " " not in value:
        yield "serial", value


def _of_text(text: str) -> Iterator[NamedIdentity]:
    for user in _HOME.findall(text):
        if _is_name(user, _GENERIC_USERS):
            yield "user", user
    for user, host in _BUILDER.findall(text):
        if _is_name(user, _GENERIC_USERS):
            yield "user", user
        if _is_name(host, _GENERIC_HOSTS):
            yield "host", host
    for serial in _SERIAL_TEXT.findall(text):
        # "serial console" is none: a serial number has a digit.
        if any(character.isdecimal() for character in serial):
            yield "serial", serial


def _is_name(text: str, generic: frozenset[str]) -> bool:
    """A number is none, unless it is an address: it would be replaced wherever it stands."""
    named = any(character.isalpha() for character in text) or text.count(".") == 3
    return named and bool(_NAME.fullmatch(text)) and text.lower() not in generic
