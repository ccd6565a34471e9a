"""What runs have in common and what differs: tags, experiment, host, versions, tuning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.comparison.side import Side
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.index.run_notes import parse_tag_key
from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.counted import counted, natural_order
from plimsoll.text.given_path import read_regular_file

_MAX_EXPERIMENT_MIB = 64
_REMEDY = "restore it from a copy of the run"
# They differ from run to run, whatever the host is.
_VOLATILE = ("calibration", "earlier_calibrations", "observed")
_ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Change:
    """`place` is the path of a fact; `values` what it is on each side, each value once.

    A side whose runs differ in it has several values.
    """

    place: str
    values: tuple[tuple[str, ...], ...]


def changes_between(sides: Sequence[Side]) -> list[Change]:
    """Every fact that is not the same in all runs of all sides, by its place.

    Raises RecordError or InputError for a run whose facts cannot be read.
    """
    facts = [[facts_of(entry.run) for entry in side.runs] for side in sides]
    places = sorted({place for side in facts for run in side for place in run})
    changes = (Change(place, tuple(_values(side, place) for side in facts)) for place in places)
    return [each for each in changes if len(set(each.values)) > 1]


def facts_of(run: RunDirectory) -> Mapping[str, str]:
    """What a run recorded of experiment, host, versions and tuning, by place. Raises as above."""
    return dict(_facts(run))


def _values(runs: Sequence[Mapping[str, str]], place: str) -> tuple[str, ...]:
    return tuple(sorted({run.get(place, _ABSENT) for run in runs}))


def _facts(run: RunDirectory) -> Iterator[tuple[str, str]]:
    text = read_regular_file(run.experiment, _MAX_EXPERIMENT_MIB, _REMEDY).decode()
    yield from _leaves("experiment", load_yaml(text))
    environment = load_environment(run.environment)
    if environment is not None:
        found = environment.model_dump(mode="json", exclude=set(_VOLATILE))
        for pool in found["hugepages"]:
            del pool["free"]
        yield from _leaves("environment", found)
    for audit in read_audits(run):
        host = audit.host if audit.role == "observed" else audit.role
        for name, verdict in audit.last_verdicts.items():
            yield f"tuning.{host}.{name}", verdict


def _leaves(place: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each scalar below, by its path; a list's items by position, from 0."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(f"{place}.{key}", inner)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(f"{place}[{index}]", inner)
    else:
        yield place, value if isinstance(value, str) else json.dumps(value)


# What a fact's place begins with; anything else is a tag.
_FACTS = ("experiment.", "environment.", "tuning.")
_BETWEEN = " · "
# Of each pair with the baseline there is a row of every figure; no one reads thousands.
_MAX_SIDES = 64


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
    if not 2 <= len(sides) <= _MAX_SIDES:
        raise InputError(
            f"{counted(len(finished), 'run')} that came to an end make "
            f"{counted(len(sides), 'side')}; a comparison takes 2 to {_MAX_SIDES}",
            where=f"--by {' --by '.join(facts)}",
            remedy="plimsoll runs lists runs with their tags; name the runs to compare",
        )
    return sorted(sides, key=lambda side: [natural_order(value) for value in side.group])


def _value(run: RunEntry, fact: str) -> str | None:
    return facts_of(run.run).get(fact) if fact.startswith(_FACTS) else run.notes.tags.get(fact)
