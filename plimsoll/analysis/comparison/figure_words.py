"""Figures, differences and judgements in words, the same on the terminal and on pages."""

from __future__ import annotations

from plimsoll.analysis.comparison.comparison import FigureComparison, FigureJudgement, SideFigure
from plimsoll.analysis.comparison.shift import Shift
from plimsoll.text.units import format_duration, format_ns, format_number, format_pps, format_ratio


def value_words(value: float, unit: str) -> str:
    """A figure's value in a unit that suits it: "12.4 µs"."""
    formats = {"ns": format_ns, "ratio": format_ratio, "s": format_duration}
    if unit.startswith("pps"):
        return format_pps(value)
    return formats[unit](value) if unit in formats else f"{format_number(value)} {unit}"


def side_words(side: SideFigure, unit: str) -> str:
    """The median, and the range of the values where they differ; "none" without any."""
    if side.median is None:
        return "none"
    text = value_words(side.median, unit)
    if len(set(side.values)) == 1:
        return text
    least, most = (value_words(each, unit) for each in (min(side.values), max(side.values)))
    return f"{text} ({least} to {most})"


def shift_words(of: Shift, base: float | None, unit: str) -> str:
    """A difference as a share of `base`, with its interval where there is one.

    Where `base` is zero, or none, it is in the figure's own unit.
    """
    if not base:
        return value_words(of.estimate, unit)
    text = _share(of.estimate, base)
    if of.least is None or of.most is None:
        return text
    return f"{text} ({_share(of.least, base)} to {_share(of.most, base)})"


def difference_sentence(
    figure: FigureComparison, of: Shift | None, judgement: FigureJudgement
) -> str:
    """What a figure's difference from the baseline says."""
    if of is None:
        return f"cannot tell: on one side no run has a {figure.name}."
    if judgement in ("better", "worse"):
        off = shift_words(of, figure.sides[0].median, figure.unit)
        return f"{figure.name} is {judgement}: {off}."
    if of.repetitions is None:
        needed = "more repetitions are unlikely to show one"
    else:
        needed = f"about {of.repetitions} repetitions a side would tell"
    if judgement == "cannot tell":
        return f"cannot tell whether {figure.name} differs: too few runs; {needed}."
    return f"{figure.name} does not differ by more than its spread; {needed}."


def _share(value: float, base: float) -> str:
    return f"{value / base * 100:+.2f} %"
