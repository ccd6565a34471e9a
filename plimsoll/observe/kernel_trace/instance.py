"""One trace instance of ours: ring buffers of chosen CPUs and the events that go there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping

from plimsoll.host.ledger.trace_instance import remove_trace_instance, trace_instance

# The kernel's least: two pages.
_LEAST_BUFFER_KB = 8
_LOST = ("overrun", "commit overrun", "dropped events")


class TraceInstance:
    """A directory in tracefs's instances/. Every method raises OSError as the kernel does."""

    def __init__(self, name: str) -> None:
        """Make it, not recording, all its buffers as small as can be."""
        self.name = name
        self.directory = trace_instance(name)
        self.directory.mkdir()
        self._write("tracing_on", "0")
        self._write("buffer_size_kb", str(_LEAST_BUFFER_KB))
        # The newest events stay: what is needed is read soon after it happened.
        self._write("options/overwrite", "1")

    def use_clock(self, preferred: Collection[str]) -> str:
        """Choose the first clock of `preferred` that the kernel has; which one it was."""
        offered = (self.directory / "trace_clock").read_text().replace("[", "").replace("]", "")
        clock = next(clock for clock in preferred if clock in offered.split())
        self._write("trace_clock", clock)
        return clock

    def limit_to_cpus(self, cpus: Collection[int]) -> None:
        """Record events that happen on these CPUs only."""
        self._write("tracing_cpumask", cpu_mask(cpus))

    def size_buffers(self, kb_by_cpu: Mapping[int, int]) -> None:
        """Give the buffers of some CPUs these sizes in KiB."""
        for cpu, kb in kb_by_cpu.items():
            self._write(f"per_cpu/cpu{cpu}/buffer_size_kb", str(kb))

    def enable(self, event: str, filter_text: str = "") -> None:
        """Record an event, "system:name", where the kernel's filter says so.

        A filter that this kernel cannot have is left away: then more is recorded.
        """
        system, name = event.split(":")
        place = f"events/{system}/{name}"
        if filter_text:
            with contextlib.suppress(OSError):
                self._write(f"{place}/filter", filter_text)
        self._write(f"{place}/enable", "1")

    def start(self) -> None:
        """Empty the buffers and record from now on."""
        # Opening for writing from the start is what empties them.
        os.close(os.open(self.directory / "trace", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC))
        self._write("tracing_on", "1")

    def stop(self) -> None:
        """Record no more; what was recorded stays."""
        self._write("tracing_on", "0")

    def lost(self, cpu: int) -> int:
        """How many events of a CPU were overwritten or never written since start()."""
        figures = self._figures(cpu)
        return sum(figures.get(name, 0) for name in _LOST)

    def seen(self, cpu: int) -> int:
        """How many events of a CPU there were since start(), lost and read ones included."""
        figures = self._figures(cpu)
        return sum(figures.get(name, 0) for name in ("entries", "read events", *_LOST))

    def remove(self) -> None:
        """Stop recording, free the buffers."""
        remove_trace_instance(self.name)

    def _figures(self, cpu: int) -> dict[str, int]:
        """The counters among what the kernel says of a CPU's buffer."""
        text = (self.directory / f"per_cpu/cpu{cpu}/stats").read_text()
        lines = (line.partition(": ") for line in text.splitlines())
        return {name: int(value) for name, _, value in lines if value.isdecimal()}

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            os.close(descriptor)


def cpu_mask(cpus: Collection[int]) -> str:
    """A set of CPUs as the kernel reads masks: hexadecimal words of 32 bits, the highest first.

    >>> cpu_mask({0, 33})
    '00000002,00000001'
    """
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> at & 0xFFFFFFFF:08x}" for at in range(0, bits.bit_length(), 32)]
    return ",".join(reversed(words)) or "0"
