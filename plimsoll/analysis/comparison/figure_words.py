"""Figures, differences and judgements in words, the same on the terminal and on pages."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.analysis.comparison.comparison import FigureComparison, SideFigure
from plimsoll.analysis.comparison.conclusion_words import conclusion_words, what_would_tell
from plimsoll.analysis.comparison.shift import Share, Shift
from plimsoll.record.results.conclusion import Conclusion
from plimsoll.text.units import format_duration, format_ns, format_number, format_pps, format_ratio


def value_words(value: float, unit: str) -> str:
    """A figure's value in a unit that suits it: "12.4 µs"."""
    formats = {"ns": format_ns, "ratio": format_ratio, "s": format_duration}
    if unit.startswith("pps"):
        return format_pps(value)
    return formats[unit](value) if unit in formats else f"{format_number(value)} {unit}"


def side_words(side: SideFigure, unit: str) -> str:
    """The median, and the range of the values where they differ; "none" without any.

    And how many runs have none, or carry less than every load that was tried.
    """
    if side.median is None:
        return "none"
    text = value_words(side.median, unit)
    if len(set(side.values)) > 1:
        least, most = (value_words(each, unit) for each in (min(side.values), max(side.values)))
        text = f"{text} ({least} to {most})"
    below, count = sum(side.upper_bounds), len(side.values)
    if below == count:
        text = f"below {text}"
    elif below:
        text += f", {below} of {count} below what was tried"
    return f"{text}, {side.without} without" if side.without else text


def shift_words(of: Shift, unit: str) -> str:
    """A difference as a share of the first sample, with its interval where there is one.

    Where a value is not positive it is in the figure's own unit.
    """
    if of.relative is None:
        return _with_interval(of, lambda value: _signed(value, unit))
    return _with_interval(of.relative, share_words)


def share_words(share: float) -> str:
    """ "+3.31 %"."""
    return f"{share * 100:+.2f} %"


def interval_words(of: Shift, unit: str) -> str:
    """The interval alone, "" without one."""
    return shift_words(of, unit).partition(" (")[2].removesuffix(")")


def difference_sentence(figure: FigureComparison, of: Shift | None, found: Conclusion) -> str:
    """What a figure's difference from the baseline says."""
    if of is None:
        return f"cannot tell: on one side no run has a {figure.name}."
    off = shift_words(of, figure.unit)
    if found.kind in ("better", "worse"):
        return f"{figure.name} is {found.kind}: {off}."
    if found.kind == "same":
        return f"{figure.name} is the {conclusion_words(found)}: {off}."
    why = "too few runs" if of.least is None else f"it is off by {off}"
    return f"cannot tell whether {figure.name} differs: {why}; {what_would_tell((found,))}."


def _with_interval(of: Shift | Share, words: Callable[[float], str]) -> str:
    text = words(of.estimate)
    if of.least is None or of.most is None:
        return text
    return f"{text} ({words(of.least)} to {words(of.most)})"


def _signed(value: float, unit: str) -> str:
    sign = "-" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{value_words(abs(value), unit)}"
