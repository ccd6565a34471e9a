"""Between which loads the capacity lies, for one goal, and where to look for it next.

What is lost per second, load - carried, is nought up to the capacity and from there on
rises with the load: with slope 1 where the DUT goes on forwarding what it can, faster where
overload makes it slower. It is convex, so the line through two overloaded loads meets
nought above the capacity or at it, and two or three trials come as near as ten bisections.
"""

from __future__ import annotations

from dataclasses import dataclass

# After so many trials near the capacity, the line through the overloaded ones is not
# believed any more.
_PATIENCE = 8
# Nor after so many loads have failed that a trial before had shown to be below the capacity: a
# DUT that loses a share of any load moves the line down with each trial, a step at a time.
_BROKEN_PROMISES = 4


@dataclass(frozen=True, slots=True)
class Barred:
    """A load that is too high, by the trial of this number, or that the tester cannot test.

    `capacity_pps` is what it showed of the capacity, if anything. `in_wake` of another that
    was too high, the DUT may not have recovered.
    """

    load_pps: float
    capacity_pps: float | None
    number: int
    by_tester: bool = False
    in_wake: bool = False


class Bracket:
    """The loads that were carried and those that were not, in trials by number.

    What the tester turns out not to be able to offer is above the maximum, whatever was
    found there; `is_limited_by_tester` says that it was lowered so.
    """

    def __init__(self, minimum_pps: float, maximum_pps: float, width: float) -> None:
        self.minimum_pps = minimum_pps
        self.maximum_pps = maximum_pps
        self.is_limited_by_tester = False
        self._width = width
        self._carried: dict[float, int] = {}
        self._barred: dict[float, Barred] = {}

    @property
    def lower_pps(self) -> float | None:
        """The highest load that was carried, beneath all that were not."""
        upper = self.upper
        within = [load for load in self._carried if load <= self.maximum_pps]
        below = [load for load in within if upper is None or load < upper.load_pps]
        return max(below, default=None)

    @property
    def upper(self) -> Barred | None:
        """The lowest load that was not carried."""
        within = (each for each in self._barred.values() if each.load_pps <= self.maximum_pps)
        return min(within, key=lambda each: each.load_pps, default=None)

    def limit_to(self, reach_pps: float) -> None:
        """The tester cannot offer more."""
        if reach_pps < self.maximum_pps:
            self.maximum_pps, self.is_limited_by_tester = reach_pps, True

    def carried(self, load_pps: float) -> bool:
        """Whether this very load was carried and has not failed since."""
        return load_pps in self._carried

    def bars(self, load_pps: float) -> bool:
        """Whether this very load was not carried, and has not been since."""
        return load_pps in self._barred

    @property
    def is_narrow(self) -> bool:
        """Whether the capacity is known within the width."""
        lower, upper = self.lower_pps, self.upper
        if upper is None:
            return lower is not None and lower >= self.maximum_pps
        if lower is None:
            return upper.load_pps <= self.minimum_pps
        return upper.load_pps - lower <= self._width * upper.load_pps

    def carry(self, load_pps: float, number: int) -> None:
        """A trial carried the load, so what was found at that load or below before is past."""
        self._carried.setdefault(load_pps, number)
        self._barred = {load: each for load, each in self._barred.items() if load > load_pps}

    def bar(self, barred: Barred) -> None:
        """A trial did not carry the load."""
        self._carried.pop(barred.load_pps, None)
        self._barred[barred.load_pps] = barred

    def forget_wakes(self) -> None:
        """What failed in the wake of an overload says nothing of a DUT that recovers slowly."""
        self._barred = {load: each for load, each in self._barred.items() if not each.in_wake}

    @property
    def is_upper_older(self) -> bool:
        """Whether the upper end was found before the lower: a cold DUT may have been the cause."""
        lower, upper = self.lower_pps, self.upper
        return (
            lower is not None
            and upper is not None
            and not upper.by_tester
            and upper.number < self._carried[lower]
        )

    @property
    def is_upper_overshadowed(self) -> bool:
        """Whether the upper end was found after a heavier overload, of which it may have been
        the aftermath.
        """
        upper = self.upper
        return (
            upper is not None
            and not upper.by_tester
            and any(
                each.load_pps > upper.load_pps and each.number < upper.number
                for each in self._barred.values()
            )
        )

    def root_pps(self, tolerance: float) -> float | None:
        """Where the lost share is the one tolerated, by the lowest overloaded loads."""
        shown = sorted(
            (each.load_pps, each.capacity_pps)
            for each in self._barred.values()
            if each.capacity_pps is not None
        )
        if not shown:
            return None
        load, capacity = shown[0]
        slope = 1.0
        if len(shown) > 1:
            further, its_capacity = shown[1]
            slope = (further - its_capacity - load + capacity) / (further - load)
        slope = max(1.0, slope)
        nought = load - (load - capacity) / slope
        return nought * slope / (slope - tolerance) if tolerance < slope else None

    def aim(self, tolerance: float) -> float:
        """The load to try next, within the range; meaningful only while not narrow.

        Where the line says the capacity is, half a width below it; once that was carried, a
        width above it. Halfway where there is no line, or where it has misled too often.
        """
        upper, lower = self.upper, self.lower_pps
        if upper is None:
            return self.maximum_pps
        if lower is None and upper.load_pps <= self.minimum_pps * (1.0 + self._width):
            return self.minimum_pps
        floor = self.minimum_pps if lower is None else lower
        root = self.root_pps(tolerance)
        if root is None or root <= floor or self._misled(floor, upper.load_pps):
            if root is not None and lower is None and root <= floor:
                return floor
            return (floor + upper.load_pps) / 2
        below = root * (1.0 - self._width / 2)
        if lower is None or lower < below * (1.0 - self._width / 4):
            return self._between(below, floor, upper.load_pps)
        return self._between(lower / (1.0 - 0.9 * self._width), floor, upper.load_pps)

    def _misled(self, floor_pps: float, upper_pps: float) -> bool:
        """Whether as many trials as bisection needs were spent inside and it is still wide.

        Or whether loads below what others had shown of the capacity failed too often.
        """
        if sum(map(self._broke_promise, self._barred.values())) >= _BROKEN_PROMISES:
            return True
        inside = sum(
            floor_pps <= load <= upper_pps * 1.1 for load in (*self._carried, *self._barred)
        )
        return inside > _PATIENCE

    def _broke_promise(self, failed: Barred) -> bool:
        return any(
            each.number < failed.number
            and each.capacity_pps is not None
            and failed.load_pps <= each.capacity_pps
            for each in self._barred.values()
        )

    def _between(self, load_pps: float, floor_pps: float, upper_pps: float) -> float:
        """Not so near an end that the trial could tell nothing new."""
        apart = min(self._width * upper_pps, upper_pps - floor_pps) / 4
        return min(max(load_pps, floor_pps + apart), upper_pps - apart)
