"""A comparison of runs in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.analysis.comparison.figure_words import difference_sentence
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import plain_text


def sentences(found: Comparison) -> Iterator[str]:
    """What the first figure says of each side against the baseline."""
    figure, base = found.figures[0], found.sides[0]
    for place, side in enumerate(found.sides[1:]):
        of, conclusion = figure.shifts[place], figure.conclusions[place]
        runs = f"{counted(len(base.runs), 'run')} and {counted(len(side.runs), 'run')}"
        message = difference_sentence(figure, of, conclusion)
        yield f"{plain_text(side.label)} against {plain_text(base.label)} ({runs}): {message}"
