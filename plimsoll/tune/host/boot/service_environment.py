"""The environment that systemd gives a service: what its files and drop-ins assign."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

ENVIRONMENT: Final = "Environment"
ENVIRONMENT_FILE: Final = "EnvironmentFile"
UNSET_ENVIRONMENT: Final = "UnsetEnvironment"

# systemd.exec(5), EnvironmentFile=: quoted parts come first, and may span lines; what follows
# goes on to the end of the line, "#" and quotes included.
_QUOTED = r""""(?:\\.|[^"\\])*(?:"|\Z)|'[^']*(?:'|\Z)"""
_ASSIGNMENT = rf"""
    (?P<name>[^ \t\n\r][^=\n\r]*)
    (?: = (?P<quoted>(?:[ \t]*(?:{_QUOTED}))*) [ \t]* (?P<plain>(?:\\.|[^\n\r\\])*) )?
"""
_ENTRY = re.compile(rf"[#;][^\n\r]*|{_ASSIGNMENT}", re.VERBOSE | re.DOTALL)
# Up to systemd 253 a backslash continues a comment, too.
_ENTRY_TO_253 = re.compile(rf"[#;](?:\\.|[^\n\r\\])*|{_ASSIGNMENT}", re.VERBOSE | re.DOTALL)
_PART = re.compile(_QUOTED, re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LINE_END = re.compile(r"\r\n|[\n\r]")
# What a backslash takes its meaning from inside double quotes.
_SPECIAL = frozenset('"\\`$')


def file_assignments(text: str, *, to_253: bool = False) -> dict[str, str]:
    """What an EnvironmentFile= assigns; of several the last counts.

    "export NAME" is no name of a variable, so that such a line assigns nothing.
    """
    entries = (_ENTRY_TO_253 if to_253 else _ENTRY).finditer(text)
    return {
        entry["name"].rstrip(): _value(entry["quoted"], entry["plain"])
        for entry in entries
        if entry["quoted"] is not None
    }


def _value(quoted: str, plain: str) -> str:
    parts = "".join(map(_unquoted, _PART.findall(quoted)))
    return parts + _ESCAPE.sub(lambda found: found[1].strip("\n\r"), plain.rstrip(" \t"))


def _unquoted(part: str) -> str:
    inner = part[1:].removesuffix(part[0])
    return inner if part[0] == "'" else _ESCAPE.sub(_in_double_quotes, inner)


def _in_double_quotes(found: re.Match[str]) -> str:
    if found[1] in _SPECIAL:
        return found[1]
    return "" if found[1] == "\n" else found[0]


def service_settings(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of each setting in [Service] of a unit or drop-in, in order."""
    section = ""
    for line in _joined(text):
        name, equals, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif section == "[Service]" and equals:
            yield name.strip(), value.strip()


def _joined(text: str) -> Iterator[str]:
    """Lines without comments; a backslash at the end joins the next with a blank."""
    begun = ""
    for line in _LINE_END.split(text):
        if line.lstrip().startswith(("#", ";")):
            continue
        whole = begun + (line if begun else line.lstrip())
        begun = ""
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            begun = f"{whole[:-1]} "
        else:
            yield whole.strip()
    if begun:
        yield begun.strip()


def words_of(value: str, about: str) -> list[str]:
    """The words of Environment= or UnsetEnvironment=, none where nothing is `about` that name.

    Raises ValueError where quotes are open, or where escapes and specifiers are to be expanded.
    """
    if about not in value:
        return []
    if "\\" in value or "%" in value:
        raise ValueError("it has escapes or specifiers")
    return shlex.split(value)


def service_environment(
    files: Mapping[str, str],
    drop_ins: Iterable[tuple[str, str]],
    *,
    about: str,
    to_253: bool = False,
) -> dict[str, tuple[str, str]]:
    """(where it is from, value) by name, of those whose names begin with `about`.

    `files` are those that the unit itself names, in its order, with their texts; `drop_ins`
    are (path, text) in theirs. Raises ValueError where that does not tell.
    """
    assigned: dict[str, tuple[str, str]] = {}
    named, unset = list(files), list[str]()
    for path, text in drop_ins:
        for setting, value in service_settings(text):
            if setting == ENVIRONMENT:
                assigned = assigned | _assigned(path, value, about) if value else {}
            elif setting == ENVIRONMENT_FILE:
                named = [*named, value.removeprefix("-")] if value else []
            elif setting == UNSET_ENVIRONMENT:
                unset = [*unset, *words_of(value, about)] if value else []
    for path in named:
        if path not in files:
            raise ValueError(f"{ENVIRONMENT_FILE}={path} names a file that is not read")
        found = file_assignments(files[path], to_253=to_253)
        assigned |= {name: (path, value) for name, value in found.items()}
    return {
        name: (path, value)
        for name, (path, value) in assigned.items()
        if name.startswith(about) and name not in unset and f"{name}={value}" not in unset
    }


def _assigned(path: str, value: str, about: str) -> dict[str, tuple[str, str]]:
    pairs = (word.partition("=") for word in words_of(value, about))
    return {name: (path, text) for name, equals, text in pairs if equals}
