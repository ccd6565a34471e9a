"""How this host's kernel keeps time on its CPUs: the tick, and what run time leaves out."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list

# include/uapi/linux/time.h: a clock that moves at every tick, so that its resolution is the tick.
_CLOCK_MONOTONIC_COARSE = 6
_NOHZ_FULL = Path("/sys/devices/system/cpu/nohz_full")
_CPUINFO = Path("/proc/cpuinfo")
_CONFIGS = (Path("/proc/config.gz"), Path(f"/boot/config-{os.uname().release}"))
_IRQ_TIME = b"CONFIG_IRQ_TIME_ACCOUNTING=y"
_STEAL_TIME = b"CONFIG_PARAVIRT_TIME_ACCOUNTING=y"


@dataclass(frozen=True, slots=True)
class HostTicks:
    """`period_s` is from tick to tick; CPUs in `tickless` have none while one task runs.

    `virtual` says that the CPUs are a hypervisor's, `irq_time` that the kernel counts interrupts
    apart from tasks' run time, which it may also do where its configuration cannot be read, and
    `steal_apart` that it is known to count stolen time apart.
    """

    period_s: float
    tickless: Collection[int] = frozenset()
    virtual: bool = False
    irq_time: bool = True
    steal_apart: bool = False

    @classmethod
    @cache
    def of_this_host(cls) -> HostTicks:
        """As the running kernel says; it does not change while it runs."""
        configs = [text for path in _CONFIGS if (text := _read(path))]
        return cls(
            period_s=time.clock_getres(_CLOCK_MONOTONIC_COARSE),
            tickless=frozenset(_cpus_of(_NOHZ_FULL)),
            virtual=b"hypervisor" in _read(_CPUINFO).split(),
            irq_time=any(_IRQ_TIME in text for text in configs) or not configs,
            steal_apart=any(_STEAL_TIME in text for text in configs),
        )


def _cpus_of(path: Path) -> tuple[int, ...]:
    try:
        return parse_cpu_list(_read(path).decode().strip().strip("()") or "")
    except InputError:
        return ()


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except OSError:
        return b""
