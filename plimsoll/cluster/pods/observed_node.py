"""The nodes of a run's DUTs, as the environment of its pod names them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.text.field_path import FieldPath

# Of the run's own node, and of those that are observed.
NODE_VARIABLE = "PLIMSOLL_NODE"
OBSERVED_VARIABLE = "PLIMSOLL_OBSERVED"


@dataclass(frozen=True, slots=True)
class ObservedNode:
    """A node by `name`, the `pod` on it that observes (a PodPlace), and the DUTs' own `cpus`."""

    name: str
    pod: str
    cpus: tuple[int, ...]


def as_json(nodes: Sequence[ObservedNode]) -> str:
    """For OBSERVED_VARIABLE."""
    return json.dumps([asdict(each) for each in nodes])


def host_fields(
    experiment: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[SetField, ...]:
    """What to set so that the nodes are observed; the run's own is, by the run itself."""
    hosts = [
        {"pod": each["pod"], "polled_cpus": each["cpus"]}
        for each in json.loads(environment.get(OBSERVED_VARIABLE, "[]"))
        if each["name"] != environment.get(NODE_VARIABLE)
    ]
    if not hosts:
        return ()
    given = experiment["observe"]["hosts"]
    return (SetField(FieldPath.parse("observe.hosts"), [*given, *hosts]),)
