"""One document for OpenSearch, and the two lines that load it."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files

# Made once, at random, for Plimsoll.
_PLIMSOLL = uuid.UUID("3f0c6f0e-5a1b-4d0e-9d55-7f1c1a4b9e27")
NUMBER = "num"
# Where what cannot be said otherwise goes, as name=value.
_ANYTHING = "id"
KEYWORDS = frozenset(
    (files("plimsoll.export.cdm") / "names.txt").read_text(encoding="utf-8").split()
)
# What Plimsoll calls otherwise.
_CLOSEST = {"lcore": "cpu", "kind": "type", "state": "mode", "name": "counter"}


@dataclass(frozen=True, slots=True)
class CdmDocument:
    """A document in JSON, the index that it belongs to, and its id there.

    `kind` is CDM's: run, tag, iteration, param, sample, period, metric_desc, metric_data.
    """

    kind: str
    index: str
    id: str
    json: str

    @property
    def lines(self) -> str:
        """What the bulk API takes: an action and the document, each with its line's end.

        Crucible's add-run finds the index in the action by the space before its name.
        """
        action = f'{{"index": {{"_index": "{self.index}", "_id": {json.dumps(self.id)}}}}}'
        return f"{action}\n{self.json}\n"


# The ids of documents: of the same run always the same, so that loading twice doubles nothing.
class DocumentIds:
    """Makes the ids of one run's documents (UUIDs of version 5, RFC 9562 section 5.5)."""

    def __init__(self, run_id: str, started_unix_ns: int) -> None:
        """Of the run that has this id and was started then."""
        self._run = uuid.uuid5(_PLIMSOLL, f"{run_id}/{started_unix_ns}")

    @property
    def run(self) -> str:
        """Of the run itself."""
        return str(self._run)

    def of(self, kind: str, *parts: object) -> str:
        """Of another document, by its kind and what tells it from others of that kind."""
        return str(uuid.uuid5(self._run, "/".join([kind, *map(str, parts)])))

    def of_series(self, source: str, kind: str, names: Mapping[str, str]) -> str:
        """Of a metric's descriptor."""
        return self.of("metric_desc", source, kind, sorted(names.items()))


# The names that CDM gives breakout dimensions; its indices refuse documents with any other.
#
# names.txt lists those of CommonDataModel's v8 index of metric_desc that are keywords (cdm.js,
# August 2026); `num` is a number.
def cdm_names(names: Mapping[str, str]) -> dict[str, str]:
    """The same dimensions under CDM's names, by name; no two different ones become the same."""
    found = {name: value for name, value in names.items() if _fits(name, value)}
    left = {name: value for name, value in names.items() if name not in found}
    for name in sorted(left):
        closest = _CLOSEST.get(name)
        if closest is not None and closest not in names:
            found[closest] = left.pop(name)
    if left:
        said = [f"{name}={value}" for name, value in sorted(left.items())]
        found[_ANYTHING] = ",".join([*filter(None, [found.get(_ANYTHING)]), *said])
    return dict(sorted(found.items()))


def _fits(name: str, value: str) -> bool:
    return name in KEYWORDS or (name == NUMBER and _is_number(value))


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


# The versions of the Common Data Model, and what they differ in.
#
# From v8 on each kind of document has an id field of its own (`iteration-uuid`, …). v9 put the
# month into the names of indices, v10 gave metrics a default aggregation (Crucible's
# docs/how-cdm-works.md, "Versioning"; index names as CommonDataModel's cdm.js makes them).
class CdmVersion(StrEnum):
    """A version, by the name that documents and indices have for it."""

    V8 = "v8dev"
    V9 = "v9dev"
    V10 = "v10dev"

    @property
    def has_aggregation(self) -> bool:
        """Whether a metric says how its series become one; without, all are summed."""
        return self is CdmVersion.V10

    def index_of(self, kind: str, begin_ms: int) -> str:
        """The index of one kind of documents, for a run that began then (ms since the epoch)."""
        if self is CdmVersion.V8:
            return f"cdm{self}-{kind}"
        month = datetime.fromtimestamp(begin_ms / 1000, UTC)
        return f"cdm-{self}-{kind}@{month:%Y.%m}"
