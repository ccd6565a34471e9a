"""Whose a run is: the names of hosts, users and things that its record has."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
