"""CPU time that Plimsoll itself took from the polled CPUs while frames were sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.generator.interface import CpuTime

MAIN_THREAD = "plimsoll-engine, main thread"


@dataclass(frozen=True, slots=True)
class SelfOverhead:
    """CPU time in ns by process, of those that may run on one of the `polled_cpus` CPUs.

    `share` is of the time that these CPUs have together while frames are sent. A process
    whose time is unknown, because it has ended, has None.
    """

    cpu_ns: Mapping[str, int | None]
    polled_cpus: int
    sending_s: float

    @classmethod
    def of(
        cls,
        cpu_time: CpuTime,
        processes: Mapping[int, str],
        *,
        main_thread: bool,
        polled_cpus: int,
        sending_s: float,
    ) -> SelfOverhead:
        """Of the generator's report; `processes` are names by pid.

        Without `main_thread` the generator's own main thread keeps off the polled CPUs.
        """
        cpu_ns: dict[str, int | None] = {}
        if main_thread:
            cpu_ns[MAIN_THREAD] = cpu_time.main_thread_ns
        for each in cpu_time.processes:
            if each.pid in processes:
                cpu_ns[processes[each.pid]] = each.cpu_ns
        return cls(cpu_ns, polled_cpus, sending_s)

    @property
    def share(self) -> float:
        """From 0 to 1."""
        taken_ns = sum(each or 0 for each in self.cpu_ns.values())
        available_s = self.sending_s * self.polled_cpus
        return taken_ns / 1e9 / available_s if available_s > 0 else 0.0
