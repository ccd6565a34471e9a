"""One document for OpenSearch, the two lines that load it, and the indices' fields and types.

The indices of the Common Data Model: their fields, and of which type each is. For an OpenSearch
that Crucible has not yet written to. Fields and types are those of CommonDataModel's cdm.js
(August 2026): a term is only found in a keyword, and a time window only in dates.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.resources import files
from typing import Any

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


Fields = dict[str, Any]

# Crucible asks for up to so many documents, or terms, at once.
_MAX_AT_ONCE = 262_144


def index_definition(kind: str, version: CdmVersion) -> dict[str, Any]:
    """The settings and mappings of the index for one kind of documents."""
    return {
        "settings": {
            "number_of_shards": 1,
            "number_of_replicas": 1,
            "max_result_window": _MAX_AT_ONCE,
            "max_terms_count": _MAX_AT_ONCE,
            "codec": "best_compression",
            "refresh_interval": "5s",
        },
        # A field that the queries do not know is a mistake.
        "mappings": {"dynamic": "strict", "properties": _properties(kind, version)},
    }


def _properties(kind: str, version: CdmVersion) -> Fields:
    cdm = _object(_keywords("ver", "doctype"))
    if kind == "metric_data":
        return {
            "cdm": cdm,
            "run": _object(_keywords("run-uuid")),
            "metric_desc": _object(_keywords("metric_desc-uuid")),
            "metric_data": _object(
                {"value": {"type": "double"}, **_dates("begin", "end"), "duration": _of("long")}
            ),
        }
    own = {
        "iteration": _iteration(),
        "sample": _sample(),
        "period": _period(),
        "metric_desc": _metric_desc(version),
        "param": _keywords("param-uuid", "id", "arg", "role", "val"),
        "tag": _keywords("tag-uuid", "name", "val"),
    }
    return {
        "cdm": cdm,
        "run": _object(_run(version)),
        **{part: _object(own[part]) for part in _PARTS[kind]},
    }


# What a document says of those above it, apart from its run.
_PARTS: dict[str, tuple[str, ...]] = {
    "run": (),
    "tag": ("tag",),
    "iteration": ("iteration",),
    "param": ("iteration", "param"),
    "sample": ("iteration", "sample"),
    "period": ("iteration", "sample", "period"),
    "metric_desc": ("iteration", "sample", "period", "metric_desc"),
}


def _run(version: CdmVersion) -> Fields:
    fields = {
        **_keywords("run-uuid", "harness", "benchmark", "host", "email", "name", "source"),
        **_dates("begin", "end"),
        "desc": {"type": "text", "analyzer": "standard"},
        "tags": {
            "type": "text",
            "analyzer": "whitespace",
            "fields": {"raw": _of("keyword")},
        },
    }
    if version is not CdmVersion.V8:
        fields |= {"partial": _of("boolean"), **_keywords("dropped-engines")}
    return fields


def _iteration() -> Fields:
    named = ("iteration-uuid", "status", "path", "primary-metric", "primary-period")
    return {**_keywords(*named), "num": _of("unsigned_long")}


def _sample() -> Fields:
    return {**_keywords("sample-uuid", "status", "path"), "num": _of("unsigned_long")}


def _period() -> Fields:
    return {**_keywords("period-uuid", "name", "prev_id"), **_dates("begin", "end")}


def _metric_desc(version: CdmVersion) -> Fields:
    named = ["metric_desc-uuid", "class", "type", "source", "names-list", "value-format"]
    if version.has_aggregation:
        named.append("default-aggregation")
    return {
        **_keywords(*named),
        "names": _object({**_keywords(*sorted(KEYWORDS)), NUMBER: _of("double")}),
        "values": _object(_keywords("pass", "fail")),
    }


def _of(kind: str) -> Fields:
    return {"type": kind}


def _object(properties: Fields) -> Fields:
    return {"properties": properties}


def _keywords(*names: str) -> Fields:
    return {name: _of("keyword") for name in names}


def _dates(*names: str) -> Fields:
    return {name: _of("date") for name in names}
