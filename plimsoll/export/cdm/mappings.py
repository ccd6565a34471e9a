"""The indices of the Common Data Model: their fields, and of which type each is.

For an OpenSearch that Crucible has not yet written to. Fields and types are those of
CommonDataModel's cdm.js (August 2026): a term is only found in a keyword, and a time window
only in dates.
"""

from __future__ import annotations

from typing import Any

from plimsoll.export.cdm.document import KEYWORDS, NUMBER, CdmVersion

Fields = dict[str, Any]

# Crucible asks for up to so many documents, or terms, at once.
_MOST_AT_ONCE = 262_144


def index_definition(kind: str, version: CdmVersion) -> dict[str, Any]:
    """The settings and mappings of the index for one kind of documents."""
    return {
        "settings": {
            "number_of_shards": 1,
            "number_of_replicas": 1,
            "max_result_window": _MOST_AT_ONCE,
            "max_terms_count": _MOST_AT_ONCE,
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
