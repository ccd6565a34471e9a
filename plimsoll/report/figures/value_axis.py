"""The axis of a figure of runs: a unit that suits its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# The format of linear ticks: nine digits, without zeros at the end. Left to itself, an axis over
# one value alone writes no digit after the point: "0" for 0.496.
TICKS = ".9~g"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# Of the values' span, on either side; of equal values, of the values themselves.
_ROOM = 0.08
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """`divisor` turns a value into `unit`."""

    unit: str
    divisor: float

    @classmethod
    def over(cls, values: Iterable[float], unit: str) -> ValueAxis:
        """For values in a figure's own unit, such as "pps per direction", "ns" or "ratio"."""
        most = max(map(abs, values), default=0.0)
        if unit == "ratio":
            return cls("%", 0.01)
        if unit == "ns":
            return next((cls(name, by) for by, name in _TIMES if most >= by), cls("ns", 1.0))
        rate, _, rest = unit.partition(" ")
        if rate in ("pps", "bps"):
            prefix, by = next(((p, by) for by, p in _PREFIXES if most >= by), ("", 1.0))
            return cls(f"{prefix}{rate} {rest}".strip(), by)
        return cls(unit, 1.0)

    def domain(self, values: Iterable[float]) -> list[float]:
        """From where to where an axis goes, in `unit`: with room around these values."""
        shown = [value / self.divisor for value in values]
        least, most = min(shown), max(shown)
        room = (most - least) * _ROOM or abs(most) * _ROOM or 1.0
        return [least - room, most + room]
