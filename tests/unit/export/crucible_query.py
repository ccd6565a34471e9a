"""What Crucible's queries make of CDM documents, as CommonDataModel's cdm.js computes it."""

import json
from collections.abc import Mapping
from typing import Any

from plimsoll.export.cdm.document import CdmVersion
from plimsoll.export.cdm.documents import RunDocuments
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.record.run.run_directory import RunDirectory

Found = dict[str, list[dict[str, Any]]]


def documents(run: RunDirectory, version: CdmVersion = CdmVersion.V8, **more: Any) -> Found:
    """Their bodies by kind."""
    found: Found = {}
    for each in RunDocuments(run, outline_of(run), version, **more):
        found.setdefault(each.kind, []).append(json.loads(each.json))
    return found


def sources_of(found: Found, kind: str) -> set[str]:
    """The sources that have a type."""
    described = (each["metric_desc"] for each in found["metric_desc"])
    return {each["source"] for each in described if each["type"] == kind}


def crucible_value(
    found: Found,
    source: str,
    kind: str,
    period: str = "measurement",
    names: Mapping[str, str] | None = None,
) -> float:
    """What getMetricData answers for one source and type over one period, and these names.

    The period only says from when to when, both included; all descriptors of the run's source and
    type count; a sum is the weighted sum over the period's length, an average that divided by the
    number of descriptors. Of a document that lies across an end it takes the time within less 1 ms.
    """
    (time,) = (p["period"] for p in found["period"] if p["period"]["name"] == period)
    begin, end = time["begin"], time["end"]
    described = [
        each["metric_desc"]
        for each in found["metric_desc"]
        if (each["metric_desc"]["source"], each["metric_desc"]["type"]) == (source, kind)
        and (names or {}).items() <= each["metric_desc"]["names"].items()
    ]
    ids = {each["metric_desc-uuid"] for each in described}
    met = [
        each["metric_data"]
        for each in found["metric_data"]
        if each["metric_desc"]["metric_desc-uuid"] in ids
        and each["metric_data"]["begin"] <= end
        and each["metric_data"]["end"] >= begin
    ]
    (aggregation,) = {each["default-aggregation"] for each in described}
    if aggregation in ("max", "min"):
        return float((max if aggregation == "max" else min)(each["value"] for each in met))
    total = sum(each["value"] * _weight_ms(each, begin, end) for each in met)
    value = total / (end - begin + 1)
    return float(value / len(ids) if aggregation == "avg" else value)


def _weight_ms(data: Mapping[str, Any], begin: int, end: int) -> int:
    if begin <= data["begin"] and data["end"] <= end:
        return int(data["duration"])
    cut = max(0, begin - data["begin"]) + max(0, data["end"] - end)
    return int(data["end"] - data["begin"] - cut)
