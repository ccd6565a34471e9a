"""Names and addresses replaced in text, also in Parquet's, each by the same stand-in everywhere.

A stand-in is of the kind of what it replaces, so that what reads the record still can: an
address for an address, a word for a host name. Addresses that identify no host stay: loopback,
broadcast, and those set aside for documentation and for benchmarks (RFC 5737, RFC 2544,
RFC 3849).
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import duckdb

from plimsoll.record.files.table_file import connect, literal_path, parquet_table, unreadable

_HEX2 = "[0-9a-f]{2}"
# One pass takes the first that fits, so that no stand-in is replaced in its turn.
_PATTERNS = (
    ("url", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>`]+"),
    ("uuid", r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("machine", r"(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])"),
    ("mac", rf"(?<![0-9a-f:-]){_HEX2}(?::{_HEX2}){{5}}(?![0-9a-f:])"),
    ("dashed_mac", rf"(?<![0-9a-z-]){_HEX2}(?:-{_HEX2}){{5}}(?![0-9a-z-])"),
    ("ipv6", r"(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])"),
    ("ipv4", r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]|\.\d)"),
    # Files of a record are called trial-0001@<host>.parquet.
    ("mail", r"\b[\w.+-]+@(?![\w.-]*\.(?:parquet|jsonl?)\b)(?:[a-z0-9-]+\.)+[a-z]{2,}\b"),
    # Not the rest of one that is written with a pattern: /proc/<pid>/stat.
    ("path", r"(?<![\w/.\-*>)}\]])~?/[\w.+@%:=~-]+(?:/[\w.+@%:=~-]+)*/?"),
)
# Of every Linux system, and of no user.
_SYSTEM_PATHS = re.compile(r"/(?:proc|sys|dev|etc|usr|boot|bin|sbin|lib|lib64)(?:/|$)", re.ASCII)
_BY_ID = re.compile(r"(/dev/disk/by-[a-z]+/|/dev/mapper/)\S+")
_LOOSE_IPV4 = ("0.0.0.0/8", "127.0.0.0/8", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24")
_KEPT_IPV4 = tuple(map(ipaddress.IPv4Network, (*_LOOSE_IPV4, "203.0.113.0/24", "224.0.0.0/3")))
_KEPT_IPV6 = tuple(map(ipaddress.IPv6Network, ("::/127", "2001:db8::/32", "ff00::/8")))
# At the end of the range for benchmarks, away from where experiments begin.
_FIRST_IPV4 = int(ipaddress.IPv4Address("198.19.128.1"))
_FIRST_IPV6 = int(ipaddress.IPv6Address("2001:db8::1"))
# Locally administered, as RFC 7042 has it; experiments use 02 by default.
_MAC_PREFIX = "0a:00:5e"
# Of `--on` and of observed pods.
_CLUSTER_SCHEME = "kube"


class Pseudonyms:
    """Stand-ins by kind; `words` are names to be replaced wherever they stand as a word."""

    def __init__(self, words: Iterable[tuple[str, str]] = ()) -> None:
        """`words` are (kind, word) such as ("host", "dut-1.lab"); case does not matter."""
        self._stand_ins: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._kinds = {word.casefold(): kind for kind, word in words if word}
        # The longest first: a full name before its first label.
        known = sorted(map(re.escape, self._kinds), key=len, reverse=True)
        word = rf"(?<![a-z0-9])(?:{'|'.join(known)})(?![a-z0-9])" if known else r"(?!)"
        self._words = re.compile(word, re.IGNORECASE)
        groups = [*_PATTERNS[:1], ("word", word), *_PATTERNS[1:]]
        pattern = "|".join(f"(?P<{name}>{form})" for name, form in groups)
        self._all = re.compile(pattern, re.IGNORECASE)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind were replaced so far."""
        return dict(self._counts)

    def text(self, text: str) -> str:
        """`text` with all of them replaced."""
        return self._all.sub(self._replaced, text)

    def words_in(self, text: str) -> str:
        """`text` with the words alone replaced: what is made of them, such as a file's name."""
        return self._words.sub(lambda found: self._word(found[0]), text)

    def remain_in(self, text: str) -> str | None:
        """A word that is still in the text; None where there is none."""
        found = self._words.search(text)
        return found[0] if found else None

    def _replaced(self, found: re.Match[str]) -> str:
        replace: dict[str, Callable[[str], str]] = {
            "url": self._url,
            "word": self._word,
            "uuid": lambda text: self._numbered("uuid", text, "00000000-0000-4000-8000-{:012d}"),
            "machine": lambda text: self._numbered("machine-id", text, "{:032d}"),
            "mac": self._mac,
            "dashed_mac": lambda text: self._mac(text.replace("-", ":")).replace(":", "-"),
            "ipv6": self._ipv6,
            "ipv4": self._ipv4,
            "mail": self._mail,
            "path": self._path,
        }
        assert found.lastgroup is not None  # noqa: S101 - every branch has a name
        return replace[found.lastgroup](found[0])

    def _numbered(self, kind: str, text: str, form: str, first: int = 1) -> str:
        key = (kind, text.casefold())
        if key not in self._stand_ins:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._stand_ins[key] = form.format(self._counts[kind] - 1 + first)
        return self._stand_ins[key]

    def _word(self, text: str) -> str:
        kind = self._kinds[text.casefold()]
        return self._numbered(kind, text, f"{kind}-{{}}")

    def _url(self, text: str) -> str:
        scheme, _, rest = text.partition("://")
        if scheme.lower() == _CLUSTER_SCHEME:
            # A pod that is observed, or a namespace: of the same form, so that the record reads.
            return f"{scheme}://{'/'.join(map(self._part_of_cluster, rest.split('/')))}"
        authority, slash, _ = rest.partition("/")
        host = self._numbered("host", authority.rpartition("@")[2].partition(":")[0], "host-{}")
        return f"{scheme}://{host}{slash}{'…' if slash else ''}"

    def _part_of_cluster(self, name: str) -> str:
        return name and self._numbered("host", name, "host-{}")

    def _mac(self, text: str) -> str:
        octets = text.lower().split(":")
        if set(octets) in ({"00"}, {"ff"}) or int(octets[0], 16) & 1:
            return text
        number = int(self._numbered("mac", text, "{}"))
        tail = [f"{number >> shift & 0xFF:02x}" for shift in (16, 8, 0)]
        return ":".join((_MAC_PREFIX, *tail))

    def _ipv4(self, text: str) -> str:
        try:
            address = ipaddress.IPv4Address(text)
        except ValueError:
            return text
        if any(address in network for network in _KEPT_IPV4):
            return text
        number = int(self._numbered("ipv4", str(address), "{}", 0))
        return str(ipaddress.IPv4Address(_FIRST_IPV4 + number))

    def _ipv6(self, text: str) -> str:
        try:
            address = ipaddress.IPv6Address(text)
        except ValueError:
            return text
        if any(address in network for network in _KEPT_IPV6):
            return text
        number = int(self._numbered("ipv6", str(address), "{}", 0))
        return str(ipaddress.IPv6Address(_FIRST_IPV6 + number))

    def _mail(self, text: str) -> str:
        user, _, host = text.partition("@")
        name = user if user == "root" else self._numbered("user", user, "user-{}")
        return f"{name}@{self._numbered('host', host, 'host-{}')}"

    def _path(self, text: str) -> str:
        if _SYSTEM_PATHS.match(text):
            kept = _BY_ID.sub(lambda found: f"{found[1]}{self._disk(found[0])}", text)
            return self.words_in(kept)
        return self._numbered("path", text, "/path-{}")

    def _disk(self, text: str) -> str:
        return self._numbered("disk", text, "disk-{}")


_ROW = "__row"


def parquet_texts(path: Path) -> Iterator[str]:
    """Each text in the file once, those within maps and lists as JSON. Raises RecordError."""
    try:
        with connect() as connection:
            for column, kind in _text_columns(connection, path):
                yield from _distinct(connection, path, column, kind)
    except duckdb.Error as error:
        raise unreadable([path], error) from error


def replace_parquet_text(source: Path, target: Path, replace: Callable[[str], str]) -> None:
    """Write `source` to `target` with each text as `replace` has it; rows keep their order.

    What holds maps, lists or JSON is replaced part by part. Raises RecordError.
    """
    try:
        with connect() as connection:
            columns = _text_columns(connection, source)
            for number, (column, kind) in enumerate(columns):
                texts = _distinct(connection, source, column, kind)
                changed = [(old, new) for old in texts if (new := _replaced(old, replace)) != old]
                connection.execute(f"CREATE TEMP TABLE r{number} (old VARCHAR, new VARCHAR)")
                if changed:
                    insertion = f"INSERT INTO r{number} VALUES (?, ?)"  # noqa: S608
                    connection.executemany(insertion, changed)
            rows = connection.sql(_statement(columns), params=[literal_path(source)])
            rows.write_parquet(os.path.abspath(target), compression="zstd")
    except duckdb.Error as error:
        raise unreadable([source], error) from error


def _text_columns(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[str, str]]:
    described = connection.execute(
        f"DESCRIBE SELECT * FROM {parquet_table()}",  # noqa: S608 - a constant
        [literal_path(path)],
    )
    return [(name, kind) for name, kind, *_ in described.fetchall() if "VARCHAR" in kind]


def _distinct(
    connection: duckdb.DuckDBPyConnection, path: Path, column: str, kind: str
) -> list[str]:
    text = _as_text(column, kind)
    statement = f"SELECT DISTINCT {text} AS text FROM {parquet_table()} WHERE text IS NOT NULL"  # noqa: S608
    return [text for (text,) in connection.execute(statement, [literal_path(path)]).fetchall()]


def _as_text(column: str, kind: str) -> str:
    name = _quoted(column)
    return name if kind == "VARCHAR" else f"to_json({name})::VARCHAR"


def _replaced(text: str, replace: Callable[[str], str]) -> str:
    """JSON stays JSON: what is replaced in it are its strings."""
    if text[:1] in ("{", "["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return replace(text)
        done = replaced_within(found, replace)
        return json.dumps(done, ensure_ascii=False, separators=(",", ":"))
    return replace(text)


def replaced_within(value: object, replace: Callable[[str], str]) -> object:
    """Plain JSON or YAML with each of its strings replaced, keys too."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, dict):
        return {
            replaced_within(key, replace): replaced_within(inner, replace)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [replaced_within(inner, replace) for inner in value]
    return value


def _statement(columns: list[tuple[str, str]]) -> str:
    """The file with its texts looked up; a text that is in no table stays."""
    changed, joins = [], []
    for number, (column, kind) in enumerate(columns):
        name = _quoted(column)
        new = f"r{number}.new" if kind == "VARCHAR" else f"r{number}.new::JSON::{kind}"
        changed.append(f"CASE WHEN r{number}.old IS NULL THEN f.{name} ELSE {new} END AS {name}")
        text = _as_text(column, kind).replace(name, f"f.{name}")
        joins.append(f"LEFT JOIN r{number} ON r{number}.old = {text}")
    replacing = f"REPLACE ({', '.join(changed)})" if changed else ""
    return (
        f"SELECT f.* EXCLUDE ({_ROW}) {replacing} FROM "  # noqa: S608
        "(SELECT * EXCLUDE (file_row_number), "
        f"file_row_number AS {_ROW} FROM {parquet_table('file_row_number=true')}) f "
        f"{' '.join(joins)} ORDER BY f.{_ROW}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
