"""What irqbalance is configured to spare, in the files that its service reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# RHEL's and its kin's file, and Debian's.
IRQBALANCE_FILES = ("/etc/sysconfig/irqbalance", "/etc/default/irqbalance")
# What plimsoll tune render writes; by systemd.exec(5) the files above come before it.
IRQBALANCE_DROP_INS = "/etc/systemd/system/irqbalance.service.d"

_SETTING = re.compile(
    r"^\s*(?:export\s+|Environment=[\"']?)?IRQBALANCE_BANNED_(CPUS|CPULIST)=[\"']?([^\"'#\n]*)",
    re.MULTILINE,
)
_VARIABLE = "IRQBALANCE_BANNED_"
_DIGITS = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_GROUP_BITS = 32
_MOST_CPUS = 8192
# Lists and masks of CPUs, written well or not.
_CPUS = re.compile(r"[0-9a-fA-FxX,\- \t]*")


@dataclass(frozen=True, slots=True)
class Ban:
    """The setting that counts: where it is, and the CPUs that irqbalance reads in it.

    `readable` is false where irqbalance gives up within it; the CPUs are those before that.
    """

    path: str
    kind: str
    value: str
    cpus: frozenset[int]
    readable: bool

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{_VARIABLE}{self.kind}={self.value}"


def effective_ban(files: Iterable[tuple[str, str]]) -> Ban | None:
    """What irqbalance makes of files in the order of their precedence; None without any setting.

    Of a variable the last assignment of a file counts. CPUS comes before CPULIST, and an empty
    one is none (irqbalance 1.7 to 1.9.5, setup_banned_cpus).
    """
    set_in: dict[str, tuple[str, str]] = {}
    for path, text in files:
        for kind, value in dict(ban_settings(text)).items():
            set_in.setdefault(kind, (path, value))
    for kind in ("CPUS", "CPULIST"):
        path, value = set_in.get(kind, ("", ""))
        if value:
            cpus, readable = (read_mask if kind == "CPUS" else read_list)(value)
            return Ban(path, kind, value, cpus, readable)
    return None


def read_mask(text: str) -> tuple[frozenset[int], bool]:
    """The CPUs of a mask, and whether irqbalance reads all of it.

    Its parser takes groups of up to 32 bits, of hexadecimal digits without 0x, and returns at
    the first that is none with the groups before it.
    """
    bits = 0
    groups = text.split(",")
    for group in map(str.strip, groups):
        if not _DIGITS.fullmatch(group) or int(group, 16) >> _GROUP_BITS:
            return _cpus_of(bits), False
        bits = bits << _GROUP_BITS | int(group, 16)
    return _cpus_of(bits), True


def read_list(text: str) -> tuple[frozenset[int], bool]:
    """The CPUs of a list; as with masks, those before the first part that is not a range."""
    cpus: set[int] = set()
    for part in map(str.strip, text.split(",")):
        match = _RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < _MOST_CPUS:
            return frozenset(cpus), False
        cpus.update(range(first, last + 1))
    return frozenset(cpus), True


def ban_settings(text: str) -> Iterator[tuple[str, str]]:
    """(CPUS or CPULIST, what is set, perhaps nothing) of each line that bans CPUs."""
    for kind, value in _SETTING.findall(text):
        yield kind, value.strip()


def _cpus_of(bits: int) -> frozenset[int]:
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def ban_lines(text: str, hidden: str) -> str:
    """Those lines and no others, with `hidden` for what is not a set of CPUs."""
    return "\n".join(
        f"IRQBALANCE_BANNED_{kind}={value if _CPUS.fullmatch(value) else hidden}"
        for kind, value in ban_settings(text)
    )
