"""A reader as one writes it first: every file opened, every line split, every figure an int.

Tools that keep such tables in Python do about this each time, and store a rate for each
figure. It reads what our observers of procstat, sar and mpstat read.
"""

from __future__ import annotations

import json
import time
from pathlib import Path


class NaiveReader:
    """Reads `proc`, and says what changed as one JSON line a reading."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._before: dict[str, int] = {}
        self._read_s = time.monotonic()
        self.read()

    def read(self) -> str:
        """The rates since the last reading."""
        now = {
            **self._table("interrupts"),
            **self._table("softirqs"),
            **self._lines("stat"),
            **self._lines("vmstat"),
            **self._lines("meminfo"),
            **self._devices(),
            **self._softnet(),
        }
        self._loads()
        now_s = time.monotonic()
        passed_s = max(now_s - self._read_s, 1e-9)
        rates = {
            name: (count - self._before[name]) / passed_s
            for name, count in now.items()
            if name in self._before
        }
        self._before, self._read_s = now, now_s
        return json.dumps({name: rate for name, rate in rates.items() if rate})

    def _table(self, name: str) -> dict[str, int]:
        found = {}
        lines = (self._proc / name).read_text(errors="replace").splitlines()
        cpus = lines[0].split()
        for line in lines[1:]:
            label, _, rest = line.partition(":")
            words = rest.split()
            for cpu, word in zip(cpus, words, strict=False):
                if word.isdigit():
                    found[f"{name} {label.strip()} {cpu}"] = int(word)
        return found

    def _lines(self, name: str) -> dict[str, int]:
        found = {}
        for line in (self._proc / name).read_text().splitlines():
            label, *words = line.split()
            for number, word in enumerate(words):
                if word.isdigit():
                    found[f"{name} {label} {number}"] = int(word)
        return found

    def _devices(self) -> dict[str, int]:
        found = {}
        for line in (self._proc / "net/dev").read_text(errors="replace").splitlines()[2:]:
            device, _, rest = line.rpartition(":")
            for number, word in enumerate(rest.split()):
                found[f"net {device} {number}"] = int(word)
        return found

    def _softnet(self) -> dict[str, int]:
        found = {}
        lines = (self._proc / "net/softnet_stat").read_text().splitlines()
        for row, line in enumerate(lines):
            for number, word in enumerate(line.split()):
                found[f"softnet {row} {number}"] = int(word, 16)
        return found

    def _loads(self) -> list[float]:
        return [float(word) for word in (self._proc / "loadavg").read_text().split()[:3]]
