"""Runs grouped by what they have in common: the value of a tag, or of a recorded fact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analysis.comparison.changes import facts_of
from plimsoll.analysis.comparison.side import Side
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.index.run_notes import parse_tag_key
from plimsoll.text.counted import counted
from plimsoll.text.natural_order import natural_order

# What a fact's place begins with; anything else is a tag.
_FACTS = ("experiment.", "environment.", "tuning.")
_BETWEEN = " · "
# Of each pair with the baseline there is a row of every figure; no one reads thousands.
_MOST_SIDES = 64


def parse_fact(text: str) -> str:
    """A tag's key, or the place of a fact. Raises InputError, without a place, for neither."""
    text = text.strip()
    return text if text.startswith(_FACTS) else parse_tag_key(text)


def grouped(runs: Iterable[RunEntry], facts: Sequence[str]) -> list[Side]:
    """A side for each combination of values that runs have, in the order in which they come.

    Runs that lack one of the `facts` are left out. Raises RecordError or InputError for a run whose
    facts cannot be read.
    """
    groups: dict[tuple[str, ...], list[RunEntry]] = {}
    for run in runs:
        values = [value for fact in facts if (value := _value(run, fact)) is not None]
        if len(values) == len(facts):
            groups.setdefault(tuple(values), []).append(run)
    return [Side(_BETWEEN.join(key), tuple(group), key) for key, group in groups.items()]


def sides_by(runs: Iterable[RunEntry], facts: Sequence[str]) -> list[Side]:
    """Sides to compare, of runs that have come to their end, by their values with 2 before 10.

    Raises InputError for fewer than two sides, and for more than anybody would read.
    """
    finished = sorted(
        (each for each in runs if each.state == "finished"), key=lambda e: e.began_unix_ns or 0
    )
    sides = grouped(finished, facts)
    if not 2 <= len(sides) <= _MOST_SIDES:
        raise InputError(
            f"{counted(len(finished), 'run')} that came to an end make "
            f"{counted(len(sides), 'side')}; a comparison takes 2 to {_MOST_SIDES}",
            where=f"--by {' --by '.join(facts)}",
            remedy="plimsoll runs lists runs with their tags; name the runs to compare",
        )
    return sorted(sides, key=lambda side: [natural_order(value) for value in side.group])


def _value(run: RunEntry, fact: str) -> str | None:
    return facts_of(run.run).get(fact) if fact.startswith(_FACTS) else run.notes.tags.get(fact)
