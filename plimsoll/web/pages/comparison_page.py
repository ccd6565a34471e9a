"""Runs ticked in the list, held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.comparison import Comparison, compare
from plimsoll.analysis.comparison.side import Side, invalid_runs
from plimsoll.analysis.comparison.words import conclusion_words, sentences, shift_words, side_words
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.text.plain_text import plain_text

_MAX_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A side's figure; but for the baseline, how far it is off that and what that says."""

    text: str
    off: str = ""
    judgement: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """`figures` and `changes` have a row each, with a cell for every side after its name."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    figures: tuple[tuple[str, tuple[FigureCell, ...]], ...]
    changes: tuple[tuple[str, tuple[str, ...]], ...]


def sides_of(entries: Sequence[RunEntry], tag: str) -> list[Side]:
    """A side for each run, or for each value of the `tag` among them, in their order.

    Raises InputError for a run that has not come to its end or lacks the tag, and for fewer
    than two sides.
    """
    for entry in entries:
        if entry.state != "finished":
            raise InputError(
                f"is {entry.state}: only runs that have come to their end are compared",
                where=plain_text(entry.run_id),
                remedy="take it out of the comparison",
            )
    sides = _by_tag(entries, tag) if tag else [Side(each.run_id, (each,)) for each in entries]
    if len(sides) < 2:
        raise InputError(
            "one side cannot be compared",
            where="the chosen runs",
            remedy="tick two runs or more; of a tag, such that have two values of it",
        )
    return sides


def comparison_page(sides: Sequence[Side]) -> ComparisonPage:
    """The page. Raises PlimsollError as `compare` does."""
    found = compare(sides)
    return ComparisonPage(
        labels=tuple(plain_text(side.label) for side in found.sides),
        counts=tuple(len(side.runs) for side in found.sides),
        sentences=tuple(sentences(found)),
        warnings=invalid_runs(found.sides),
        figures=tuple(_figures(found)),
        changes=tuple(
            (
                plain_text(change.place),
                tuple(plain_text(", ".join(v), _MAX_CHARACTERS) for v in change.values),
            )
            for change in found.changes
        ),
    )


def common_tags(entries: Sequence[RunEntry]) -> list[str]:
    """The keys that all of them carry, with two values or more: by these they make sides."""
    keys = {key for entry in entries for key in entry.notes.tags}
    return sorted(
        key
        for key in keys
        if all(key in entry.notes.tags for entry in entries)
        and len({entry.notes.tags[key] for entry in entries}) > 1
    )


def _by_tag(entries: Sequence[RunEntry], tag: str) -> list[Side]:
    grouped: dict[str, list[RunEntry]] = {}
    for entry in entries:
        value = entry.notes.tags.get(tag)
        if value is None:
            raise InputError(
                f"does not carry the tag {plain_text(tag, 80)}",
                where=plain_text(entry.run_id),
                remedy="take it out of the comparison, or tag it: plimsoll runs tag",
            )
        grouped.setdefault(value, []).append(entry)
    return [
        Side(f"{tag}={value}", tuple(sorted(of, key=lambda each: each.began_unix_ns or 0)))
        for value, of in grouped.items()
    ]


def _figures(found: Comparison) -> list[tuple[str, tuple[FigureCell, ...]]]:
    rows = []
    for figure in found.figures:
        base, *others = figure.sides
        cells = [FigureCell(side_words(base, figure.unit))]
        for place, side in enumerate(others):
            shift = figure.shifts[place]
            cells.append(
                FigureCell(
                    side_words(side, figure.unit),
                    "" if shift is None else shift_words(shift, figure.unit),
                    conclusion_words(figure.conclusions[place]),
                )
            )
        rows.append((figure.name, tuple(cells)))
    return rows
