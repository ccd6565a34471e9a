"""Series as one line of bars."""

from __future__ import annotations

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-=+*%#"


def sparkline(values: Sequence[float | None], cells: int, *, ascii_only: bool = False) -> str:
    """The last `cells` values, each as high as its share of the greatest; a blank for None.

    Zero is the lowest bar and stays it, so that a series that hardly changes looks so.
    """
    bars = _ASCII_BARS if ascii_only else _BARS
    shown = values[-cells:]
    most = max((value for value in shown if value is not None), default=0.0)
    return "".join(_bar(value, most, bars) for value in shown).ljust(cells)


def _bar(value: float | None, most: float, bars: str) -> str:
    if value is None:
        return " "
    if most <= 0 or value <= 0:
        return bars[0]
    return bars[min(len(bars) - 1, round(value / most * (len(bars) - 1)))]
