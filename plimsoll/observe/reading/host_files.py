"""Where a host's own files lie, and reading them again and again at little cost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.reading.readings import Readings

# The C library takes blocks of 128 kB and more from the system anew each time, which costs
# 15 us a reading where the file itself costs one. procfs gives a page at a time anyway.
_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The roots of procfs, sysfs and devices: this host's, or those of a captured tree."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    dev: Path = Path("/dev")


class RereadFile:
    """One file of procfs or sysfs, held open: each `read` makes the kernel tell it anew."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises OSError where it is not there or may not be read."""
        self.path = path
        # Where opening fails there is nothing to close.
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """All of it, as it is now. Raises OSError when what it tells of has gone."""
        content = os.pread(self._descriptor, _BLOCK_BYTES, 0)
        # sysfs tells all in one piece, up to a page; procfs may take several.
        if len(content) < 2048:
            return content
        pieces = [content]
        while content:
            content = os.pread(self._descriptor, _BLOCK_BYTES, sum(map(len, pieces)))
            pieces.append(content)
        return b"".join(pieces)

    def read_int(self) -> int:
        """The one number in it. Raises OSError, and ValueError where it holds anything else."""
        return int(os.pread(self._descriptor, 64, 0))

    def close(self) -> None:
        """Close it; safe to repeat."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        # An observer lives as long as a trial and may hold hundreds of files.
        self.close()


def read_text(path: Path) -> str | None:
    """A small file's text without its line end; None where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


# What the kernel tells as bytes: names of devices, and numbers behind words.
def printable(name: bytes) -> str:
    """As text that any file and terminal takes: other bytes become escapes such as \\x1b.

    A name is chosen by a driver, or by whichever user may create network devices.
    """
    text = name.decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def number_after(word: bytes, text: bytes) -> int:
    """The number behind `word` in a file of lines. Raises ValueError where it is not there.

    A word that begins a line is given with the end of the line before.
    """
    begin = text.index(word) + len(word)
    return int(text[begin : text.index(b"\n", begin)])


# Files of what may go while a trial runs, such as cgroups.
class PassingFile(Protocol):
    """One of them, with the series that are read from it."""

    def read(self, readings: Readings) -> None:
        """Tell what has changed. Raises OSError once it has gone."""

    def absent(self, readings: Readings) -> None:
        """Tell that its series have gone."""


def read_present(files: list[PassingFile], readings: Readings) -> None:
    """Read each; what has gone is set absent and taken off the list."""
    for file in tuple(files):
        try:
            file.read(readings)
        except OSError:
            files.remove(file)
            file.absent(readings)


def cpu_names(files: HostFiles, cpu: int) -> Mapping[str, str]:
    """The breakouts of a CPU: num, package, die, core, thread, as far as they are known."""
    topology = files.sys / "devices/system/cpu" / f"cpu{cpu}" / "topology"
    found = {
        "package": read_text(topology / "physical_package_id"),
        "die": read_text(topology / "die_id"),
        "core": read_text(topology / "core_id"),
        "thread": _thread(topology, cpu),
    }
    # A virtual machine may say -1 where there is no such thing.
    known = {name: value for name, value in found.items() if value and not value.startswith("-")}
    return {**known, "num": str(cpu)}


def _thread(topology: Path, cpu: int) -> str | None:
    """Its place among the threads of its core."""
    siblings = read_text(topology / "thread_siblings_list")
    return None if not siblings else str(parse_cpu_list(siblings).index(cpu))


class CounterFile:
    """Such a file, held open, and the series that it feeds."""

    def __init__(self, path: Path, series: int) -> None:
        """Open it. Raises OSError where it is not there or may not be read."""
        self._file = RereadFile(path)
        self._series = series
        self._content = b""

    def read(self, readings: Readings) -> bool:
        """Tell where it stands if that has changed, and say whether it has.

        Raises OSError when what it tells of has gone, and ValueError where it holds no number.
        """
        content = self._file.read()
        if content == self._content:
            return False
        self._content = content
        readings.total(self._series, int(content))
        return True

    def absent(self, readings: Readings) -> None:
        """Tell that it has gone."""
        readings.absent(self._series)
