"""The raw clock of another host on the tester's clocks, by round trips to it.

A clock that was read between two looks at ours was read at some time between them, however long
either way took: half of a round trip bounds the error, and the narrowest of many is kept. Between
two such times both clocks run evenly, so that what holds at either holds in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from plimsoll.record.trials.clock_fit import ClockFit

# Quartz is within 0.01 %, and a virtual machine's clock within less than this: one that ran
# otherwise was stopped, or set.
_MOST_UNEVEN = 0.02


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The other host's CLOCK_MONOTONIC_RAW and wall clock, between two looks at our raw clock.

    All in ns. `there_unix_ns` is read right after `there_ns`.
    """

    before_ns: int
    there_ns: int
    there_unix_ns: int
    after_ns: int

    @property
    def width_ns(self) -> int:
        """How long it took."""
        return self.after_ns - self.before_ns

    @property
    def middle_ns(self) -> int:
        """Our clock when the other was read, give or take half of `width_ns`."""
        return self.before_ns + self.width_ns // 2


@dataclass(frozen=True, slots=True)
class RemoteClock:
    """Carries times over between two raw clocks, by the narrowest round trip of each occasion.

    Between the first of them and the last a time may be wrong by `error_ns`: half of the widest of
    these round trips, and how far any lies from the line through its neighbours, which is drift.
    """

    anchors: tuple[RoundTrip, ...]
    error_ns: int

    @classmethod
    def of(cls, occasions: Sequence[Sequence[RoundTrip]]) -> Self:
        """By round trips on occasions in order.

        Raises ValueError where there are fewer than two, and for a clock that did not run evenly.
        """
        anchors = tuple(min(each, key=lambda trip: trip.width_ns) for each in occasions if each)
        if len(anchors) < 2:
            raise ValueError("its clock was not read at two times")
        for first, second in pairwise(anchors):
            _check_runs(first, second)
        half_ns = max((each.width_ns + 1) // 2 for each in anchors)
        # One more for the middle, and one for what is rounded.
        return cls(anchors, half_ns + _drift_ns(anchors) + 2)

    def here_ns(self, there_ns: int) -> int:
        """Our raw clock at that time of the other's."""
        first, second = self._around(there_ns, lambda each: each.there_ns)
        return _on_line(
            there_ns, (first.there_ns, first.middle_ns), (second.there_ns, second.middle_ns)
        )

    def there_ns(self, here_ns: int) -> int:
        """The other's raw clock at that time of ours."""
        first, second = self._around(here_ns, lambda each: each.middle_ns)
        return _on_line(
            here_ns, (first.middle_ns, first.there_ns), (second.middle_ns, second.there_ns)
        )

    def there_at(self, unix_ns: int) -> int:
        """The other's raw clock at that time of its wall clock, as near as that was kept."""
        near = min(self.anchors, key=lambda each: abs(each.there_unix_ns - unix_ns))
        return near.there_ns + unix_ns - near.there_unix_ns

    def _around(self, ns: int, time: Callable[[RoundTrip], int]) -> tuple[RoundTrip, RoundTrip]:
        """The anchors before and after; of a time outside of them the nearest two."""
        second = min(max(1, bisect_right(self.anchors, ns, key=time)), len(self.anchors) - 1)
        return self.anchors[second - 1], self.anchors[second]


@dataclass(frozen=True, slots=True)
class HostClock:
    """The raw clock and the wall clock of another host on the tester's TSC.

    `error_ns` is by how much all of its times may be off together, in ns.
    """

    remote: RemoteClock
    tester: ClockFit

    @property
    def error_ns(self) -> float:
        """That of the round trips, and of what ties our raw clock to the TSC."""
        return self.remote.error_ns + self.tester.error_ns

    def tsc_of(self, there_ns: int) -> int:
        """The TSC at that time of the host's raw clock."""
        return self.tester.raw.tsc(self.remote.here_ns(there_ns))

    def there_ns(self, tsc: int) -> int:
        """The host's raw clock at that TSC."""
        return self.remote.there_ns(self.tester.raw_ns(tsc))

    def tsc(self, unix_ns: int) -> int:
        """The TSC at that time of the host's wall clock."""
        return self.tsc_of(self.remote.there_at(unix_ns))


def _check_runs(first: RoundTrip, second: RoundTrip) -> None:
    here_ns, there_ns = second.middle_ns - first.middle_ns, second.there_ns - first.there_ns
    unknown_ns = first.width_ns + second.width_ns
    if here_ns <= 0 or there_ns <= 0:
        raise ValueError("its clock did not go on")
    if abs(there_ns - here_ns) > _MOST_UNEVEN * here_ns + unknown_ns:
        raise ValueError(
            f"its clock went on by {there_ns / 1e9:.6f} s in {here_ns / 1e9:.6f} s of the tester's"
        )


def _drift_ns(anchors: Sequence[RoundTrip]) -> int:
    """How far the middle one of any three in a row lies from the line through the others."""
    return max(
        (
            abs(
                middle.middle_ns
                - _on_line(
                    middle.there_ns,
                    (before.there_ns, before.middle_ns),
                    (after.there_ns, after.middle_ns),
                )
            )
            for before, middle, after in zip(anchors, anchors[1:], anchors[2:], strict=False)
        ),
        default=0,
    )


def _on_line(at: int, first: tuple[int, int], second: tuple[int, int]) -> int:
    """The line through two points, in whole numbers: these times are beyond a float's."""
    run, rise = second[0] - first[0], second[1] - first[1]
    return first[1] + ((at - first[0]) * rise + run // 2) // run
