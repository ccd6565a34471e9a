"""What else differs between the sides: experiment, host, versions, tuning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.analysis.comparison.side import Side
from plimsoll.record.run.audit_record import read_audits
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file

_MOST_EXPERIMENT_MIB = 64
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
    text = read_regular_file(run.experiment, _MOST_EXPERIMENT_MIB, _REMEDY).decode()
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
