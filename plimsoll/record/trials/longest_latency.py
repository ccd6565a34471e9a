"""The longest latency of a stream over all its samples, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, Self

from pydantic import Field

from plimsoll.generator.interface import StreamCounts
from plimsoll.record.files.record_model import RecordModel


class NamedLatency(Protocol):
    """A latency of a stream in its parts; the attribution layer's LatencyParts is one."""

    @property
    def stream(self) -> str:
        """The stream's name."""

    @property
    def latency_ns(self) -> int:
        """The latency."""


def longest_of(stream: str, listed: Iterable[NamedLatency]) -> NamedLatency | None:
    """The longest of the stream; None where none of it is listed."""
    own = (each for each in listed if each.stream == stream)
    return max(own, key=lambda each: each.latency_ns, default=None)


class LongestLatency(RecordModel):
    """The longest latency among all samples, those across a stall of the tester included.

    Its three parts add up to `latency_ns`. Where the kernel's events were not recorded, or the
    DUT polls on another host, what is not the tester's is undecided.
    """

    latency_ns: int = Field(ge=0, description="From sending to receiving, in ns.")
    across_stall: bool = Field(
        description="Whether a stall of the tester touched the sample, so that `latency` leaves "
        "it out."
    )
    tester_ns: int = Field(
        ge=0,
        description="Part of it, in ns, in which a polling loop of the tester was away, or one of "
        "Plimsoll's own processes had the DUT's CPU, and the DUT was not away otherwise.",
    )
    dut_ns: int = Field(
        ge=0,
        description="Part of it, in ns, in which the DUT's polling loops were away, as the "
        "kernel's events show, and the tester's were not.",
    )
    undecided_ns: int = Field(
        ge=0,
        description="The rest, in ns: both sides were away, or neither, as while a queue is "
        "worked off.",
    )

    @classmethod
    def of(cls, counts: StreamCounts, parts: NamedLatency | None) -> Self | None:
        """That of a stream; undecided as a whole without its `parts`, None without samples.

        `parts` have the attributes of this class.
        """
        if parts is not None:
            names = cls.model_fields
            return cls.model_validate({name: getattr(parts, name) for name in names})
        apart_ns = counts.latency_across_stalls.max_ns
        longest_ns = max(counts.latency.max_ns or 0, apart_ns or 0)
        if not counts.latency.count and not counts.latency_across_stalls.count:
            return None
        return cls(
            latency_ns=longest_ns,
            across_stall=apart_ns == longest_ns,
            tester_ns=0,
            dut_ns=0,
            undecided_ns=longest_ns,
        )
