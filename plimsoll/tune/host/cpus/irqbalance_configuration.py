"""What irqbalance is configured to spare, in the files that its service reads."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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


# RHEL's and its kin's file, and Debian's.
IRQBALANCE_FILES = ("/etc/sysconfig/irqbalance", "/etc/default/irqbalance")
# What plimsoll tune render writes; by systemd.exec(5) the files above come before it.
IRQBALANCE_DROP_INS = "/etc/systemd/system/irqbalance.service.d"

_VARIABLE = "IRQBALANCE_BANNED_"
_CPUS_VARIABLE, _LIST_VARIABLE = f"{_VARIABLE}CPUS", f"{_VARIABLE}CPULIST"
_VARIABLES = (_CPUS_VARIABLE, _LIST_VARIABLE)
_DIGITS = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_GROUP_BITS = 32
# irqbalance's own NR_CPUS, 1.6 to 1.9.5.
_MAX_CPUS = 4096
# Lists and masks of CPUs, written well or not.
_CPUS = re.compile(r"[0-9a-fA-FxX,\- \t]*")


@dataclass(frozen=True, slots=True)
class Ban:
    """The setting that counts: where it is, and the CPUs that irqbalance reads in it.

    `readable` is false where irqbalance gives up within it; the CPUs are those before that.
    An empty list is set: releases to 1.9.5 take it for none, and later ones do not.
    """

    path: str
    name: str
    value: str
    cpus: frozenset[int]
    readable: bool

    @property
    def text(self) -> str:
        """As it is set."""
        return f"{self.name}={self.value}"


def effective_ban(files: Mapping[str, str], drop_ins: Iterable[tuple[str, str]]) -> Ban | None:
    """What irqbalance makes of its files and its service's drop-ins; None without any setting.

    CPUS comes before CPULIST, and an empty one is none (irqbalance 1.7 to 1.9.5,
    setup_banned_cpus). `files` are by path, later ones counting more. Raises ValueError where
    they do not tell.
    """
    drop_ins = tuple(drop_ins)
    ban, to_253 = (
        _ban(service_environment(files, drop_ins, about=_VARIABLE, to_253=to_253))
        for to_253 in (False, True)
    )
    if ban != to_253:
        raise ValueError("up to systemd 253 a backslash at the end of a comment continues it")
    return ban


def _ban(environment: Mapping[str, tuple[str, str]]) -> Ban | None:
    path, mask = environment.get(_CPUS_VARIABLE, ("", ""))
    if mask:
        return Ban(path, _CPUS_VARIABLE, mask, *read_mask(mask))
    if _LIST_VARIABLE not in environment:
        return None
    path, listed = environment[_LIST_VARIABLE]
    return Ban(path, _LIST_VARIABLE, listed, *read_list(listed))


def read_mask(text: str) -> tuple[frozenset[int], bool]:
    """The CPUs of a mask, and whether irqbalance reads all of it.

    Its parser takes groups of up to 32 bits, of hexadecimal digits without 0x, and returns at
    the first that is none, or that follows a blank, with the groups before it.
    """
    bits = 0
    for group in _parts(text):
        if not _DIGITS.fullmatch(group) or int(group, 16) >> _GROUP_BITS:
            return _cpus_of(bits), False
        bits = bits << _GROUP_BITS | int(group, 16)
    return _cpus_of(bits), True


def read_list(text: str) -> tuple[frozenset[int], bool]:
    """The CPUs of a list; as with masks, those before the first part that is not a range.

    Where there is nothing between commas it reads CPU 0.
    """
    cpus: set[int] = set()
    for part in _parts(text):
        match = _RANGE.fullmatch(part or "0")
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < _MAX_CPUS:
            return frozenset(cpus), False
        cpus.update(range(first, last + 1))
    return frozenset(cpus), True


def _parts(text: str) -> list[str]:
    """What is between commas; blanks count but where all begins and ends.

    A comma at the very end begins no further part.
    """
    text = text.lstrip()
    return (text.removesuffix(",") if text.endswith(",") else text.rstrip()).split(",")


def _cpus_of(bits: int) -> frozenset[int]:
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def file_ban_lines(text: str, hidden: str) -> str:
    """The lines that ban CPUs and no others, with `hidden` for what is not a set of CPUs."""
    now, to_253 = file_assignments(text), file_assignments(text, to_253=True)
    lines = []
    for name in _VARIABLES:
        value, other = now.get(name), to_253.get(name)
        if value is not None and value == other:
            lines.append(f"{name}={_shown(value, hidden)}")
        elif value != other:
            lines.append(f"{name}={hidden}")
    return "\n".join(lines)


def drop_in_ban_lines(text: str, hidden: str) -> str:
    """The settings that bear on bans, and no others, likewise."""
    kept = [
        line for setting, value in service_settings(text) for line in _kept(setting, value, hidden)
    ]
    return "\n".join(["[Service]", *kept]) if kept else ""


def _kept(setting: str, value: str, hidden: str) -> Iterator[str]:
    if setting == ENVIRONMENT_FILE:
        known = not value or value.removeprefix("-") in IRQBALANCE_FILES
        yield f"{setting}={value if known else hidden}"
    elif setting in (ENVIRONMENT, UNSET_ENVIRONMENT):
        yield from _kept_words(setting, value, hidden)


def _kept_words(setting: str, value: str, hidden: str) -> Iterator[str]:
    if not value:
        yield f"{setting}="
        return
    try:
        words = words_of(value, _VARIABLE)
    except ValueError:
        # An escape is what makes it unclear for the audit, too.
        yield f"{setting}={_VARIABLE}\\{hidden}"
        return
    for name, equals, text in (word.partition("=") for word in words):
        if name in _VARIABLES:
            shown = text if _CPUS.fullmatch(text) else hidden
            yield f'{setting}="{name}{equals}{shown}"'


def _shown(value: str, hidden: str) -> str:
    if not _CPUS.fullmatch(value):
        return hidden
    return value if value == value.strip() else f'"{value}"'
