"""Figures, differences and conclusions in words, the same on the terminal and on pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from plimsoll.analysis.comparison.comparison import Comparison, FigureComparison, SideFigure
from plimsoll.analysis.comparison.conclude import Share, Shift
from plimsoll.record.results.conclusion import Conclusion, ConclusionKind
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_duration, format_ns, format_number, format_pps, format_ratio

# The sign of a page for each.
MARKS: dict[ConclusionKind, str] = {
    "better": "pass",
    "worse": "fail",
    "same": "none",
    "cannot tell": "invalid",
}
# The first of them that there is marks a page.
_GRAVEST: tuple[ConclusionKind, ...] = ("worse", "better", "cannot tell", "same")


def conclusion_words(of: Conclusion) -> str:
    """ "better", "worse", "same within 0.5 %" or "cannot tell"."""
    return kind_words(of.kind, of.within)


def kind_words(kind: ConclusionKind, within: float) -> str:
    """The same of a kind and its share."""
    return f"same within {format_ratio(within)}" if kind == "same" else kind


def gravest(of: Sequence[Conclusion]) -> Conclusion:
    """The one by which all of them are marked. Raises StopIteration without any."""
    return next(each for kind in _GRAVEST for each in of if each.kind == kind)


def counted_conclusions(of: Sequence[Conclusion]) -> str:
    """How many of each kind, none left out: "1 better, 0 worse, 2 the same within 1 %, …"."""
    said = counted_kinds([each.kind for each in of], max(each.within for each in of))
    needed = what_would_tell(of)
    return f"{said} ({needed})" if needed else said


def counted_kinds(kinds: Sequence[ConclusionKind], within: float) -> str:
    """How many of each kind, with the share that counts as no difference."""
    found = Counter(kinds)
    return (
        f"{found['better']} better, {found['worse']} worse, {found['same']} the same within "
        f"{format_ratio(within)}, {found['cannot tell']} cannot tell"
    )


def what_would_tell(of: Sequence[Conclusion]) -> str:
    """What those need that cannot tell: "about 6 repetitions a side would be enough to tell"."""
    return "; ".join(_needed(of))


def _needed(of: Sequence[Conclusion]) -> Iterator[str]:
    repeated = [each.repetitions for each in of if each.needs == "repetitions"]
    counts = sorted({each for each in repeated if each is not None})
    if counts:
        numbers = " to ".join(str(each) for each in dict.fromkeys((counts[0], counts[-1])))
        yield f"about {numbers} repetitions a side would be enough to tell"
    if None in repeated:
        yield "at this spread more repetitions are unlikely to tell"
    if any(each.needs == "reach" for each in of):
        yield (
            "the tester or search.maximum limits the load line, so a faster tester or a higher "
            "search.maximum would tell"
        )
    if any(each.needs == "values" for each in of):
        yield "a value of every run on both sides would tell"


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


def sentences(found: Comparison) -> Iterator[str]:
    """What the first figure says of each side against the baseline."""
    figure, base = found.figures[0], found.sides[0]
    for place, side in enumerate(found.sides[1:]):
        of, conclusion = figure.shifts[place], figure.conclusions[place]
        runs = f"{counted(len(base.runs), 'run')} and {counted(len(side.runs), 'run')}"
        message = difference_sentence(figure, of, conclusion)
        yield f"{plain_text(side.label)} against {plain_text(base.label)} ({runs}): {message}"
