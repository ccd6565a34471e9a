"""What ring buffers of the kernel's trace lost during a trial, CPU by CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.record.causes.causes_record import TracedCpu

_Span = tuple[int, int]


@dataclass
class BufferLosses:
    """Of the CPUs of one host; times are of its trace's clock."""

    lost: dict[int, int] = field(default_factory=dict)
    # Since when nothing is missing; None where that is not known.
    since: dict[int, int | None] = field(default_factory=dict)

    def note(self, cpu: int, events: int, complete_from: int | None) -> None:
        """So many more events of this CPU are missing, all before `complete_from`."""
        self.lost[cpu] = self.lost.get(cpu, 0) + events
        self.since[cpu] = complete_from

    def coverage(
        self, cpus: Iterable[int], span: _Span, tsc: Callable[[int], int] = int
    ) -> TraceCoverage:
        """From when to when the trace is complete; `tsc` carries a time over to the TSC."""
        found = {cpu: self._complete(cpu, span, tsc) for cpu in cpus}
        return TraceCoverage({cpu: complete for cpu, complete in found.items() if complete})

    def traced(
        self,
        cpus: Iterable[int],
        span: _Span,
        tsc: Callable[[int], int] = int,
        host: str | None = None,
    ) -> Iterator[TracedCpu]:
        """What the record says of each of the CPUs."""
        for cpu in cpus:
            begin, end = self._complete(cpu, span, tsc) or (span[1], span[1])
            lost = self.lost.get(cpu, 0)
            yield TracedCpu(
                cpu=cpu,
                host=host,
                complete_from_tsc=begin,
                complete_to_tsc=end,
                lost_events=lost,
            )

    def _complete(self, cpu: int, span: _Span, tsc: Callable[[int], int]) -> _Span | None:
        """None where it is not known since when nothing is missing."""
        if cpu not in self.since:
            return span
        since = self.since[cpu]
        return None if since is None else (max(span[0], tsc(since)), span[1])
