"""A trend in words, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.comparison.trend.change_points import FEWEST_RUNS
from plimsoll.analysis.comparison.trend.trend import FigureTrend, LevelChange, Trend
from plimsoll.analysis.comparison.words import kind_words, shift_words
from plimsoll.text.counted import counted
from plimsoll.text.units import format_ratio


def change_words(figure: FigureTrend, change: LevelChange) -> str:
    """The size of a change as a share of the level before it, with its interval."""
    return shift_words(change.shift, figure.unit)


def p_words(p: float) -> str:
    """The test's p, to what its permutations can tell: "0.0002"."""
    return f"{p:.2g}"


def newest_sentence(found: Trend, figure: FigureTrend) -> str:
    """What the newest releases show of a figure."""
    runs = f"{counted(figure.runs, 'run')} of {counted(len(found.releases), 'release')}"
    if figure.newest == "cannot tell":
        return f"{figure.name}: cannot tell; {runs}, and {FEWEST_RUNS} runs are the fewest."
    if not figure.changes:
        if figure.kind == "same":
            said = kind_words(figure.kind, figure.within)
            return f"{figure.name} is the {said}: no change seen in {runs}."
        return (
            f"{figure.name}: no change seen in {runs}, but by their spread one of more than "
            f"{format_ratio(figure.within)} cannot be excluded."
        )
    change = figure.changes[-1]
    return (
        f"{figure.name} is {change.judgement}: {change_words(figure, change)} from "
        f"{found.releases[change.release].label} on (p {p_words(change.p)}); "
        f"first run {change.first_run.run_id}."
    )


def notable_sentences(found: Trend) -> Iterator[str]:
    """How the newest level is of the first figure, and of each other one that changed."""
    for place, figure in enumerate(found.figures):
        if place == 0 or figure.changes:
            yield newest_sentence(found, figure)
