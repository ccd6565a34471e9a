"""The metrics of a run as documents: one for each series, then one for each of its rows.

A series has one descriptor in the whole run, and not one in each period. Crucible's queries
drop the period and go by time, and divide an average by all descriptors of the run that they
find; with one for each trial an average would shrink with the number of trials. For the same
reason a series that the measurement has not, such as a stream of the calibration alone, is of
a source of its own: `trafficgen-calibration`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.export.cdm.document import Document
from plimsoll.export.cdm.identity import Identity
from plimsoll.export.cdm.names import cdm_names
from plimsoll.export.cdm.outline import Outline, Sample
from plimsoll.export.cdm.version import CdmVersion
from plimsoll.export.metric_batches import metric_batches
from plimsoll.record.metrics.metrics import query_metrics

# CDM's name of an aggregation.
_AGGREGATIONS = {"sum": "sum", "mean": "avg", "max": "max", "min": "min"}
# Its time is in whole milliseconds, and JSON has finite numbers only.
_EXPRESSIBLE = "end_ms > begin_ms AND isfinite(value)"

# Of a trial that was cut short, which has no record.
_UNFINISHED = "unfinished"

# source, type as recorded, and names as JSON.
SeriesKey = tuple[str, str, str]


class MetricDocuments:
    """The documents metric_desc and metric_data of a run."""

    def __init__(
        self, outline: Outline, version: CdmVersion, identity: Identity, run: Mapping[str, object]
    ) -> None:
        """`run` is what every document but metric_data says of its run."""
        self._outline = outline
        self._version = version
        self._identity = identity
        self._run = run
        self._described: set[str] = set()
        self._measured = self._measured_series()

    @property
    def count(self) -> int:
        """How many rows there are; the series come on top. Raises RecordError."""
        statement = f"SELECT count(*) FROM rows WHERE {_EXPRESSIBLE}"  # noqa: S608
        return sum(
            int(query_metrics(sample.run, statement, periods=[period.name])[0][0])
            for sample in self._outline.samples
            for period in sample.periods
        )

    def __iter__(self) -> Iterator[Document]:
        """Raises RecordError."""
        for sample in self._outline.samples:
            for period in sample.periods:
                yield from self._of_period(sample, period.name)

    def _of_period(self, sample: Sample, period: str) -> Iterator[Document]:
        series: dict[SeriesKey, str] = {}
        for key, document in self._descriptors(sample, period):
            series[key] = document.id
            if document.id not in self._described:
                self._described.add(document.id)
                yield document
        yield from self._rows(sample, period, series)

    def _descriptors(self, sample: Sample, period: str) -> Iterator[tuple[SeriesKey, Document]]:
        statement = (
            "SELECT DISTINCT source, type, class, aggregation, names, "  # noqa: S608
            "to_json(names)::VARCHAR AS named "
            f"FROM rows WHERE {_EXPRESSIBLE} ORDER BY source, type, named"
        )
        found = query_metrics(sample.run, statement, periods=[period])
        for recorded, kind, metric_class, aggregation, names, named in found:
            key = (recorded, kind, named)
            source = self._source_of(key, sample, period)
            uuid = self._identity.of_series(source, kind, names)
            told = cdm_names(names)
            described: dict[str, Any] = {
                "metric_desc-uuid": uuid,
                "class": metric_class,
                "type": kind,
                "source": source,
                "names": told,
                "names-list": list(told),
            }
            if self._version.has_aggregation:
                described["default-aggregation"] = _AGGREGATIONS[aggregation]
            fields = {"cdm": {"ver": str(self._version)}, "run": self._run}
            text = _json({**fields, "metric_desc": described})
            yield key, self._document("metric_desc", uuid, text)

    def _source_of(self, key: SeriesKey, sample: Sample, period: str) -> str:
        """The recorded source, with the trial's phase where the measurement has no such series."""
        if key in self._measured or not self._measured:
            return key[0]
        return f"{key[0]}-{sample.phases.get(period, _UNFINISHED)}"

    def _measured_series(self) -> frozenset[SeriesKey]:
        """The series of all trials that results rest on. Raises RecordError."""
        statement = (
            "SELECT DISTINCT source, type, to_json(names)::VARCHAR "  # noqa: S608
            f"FROM rows WHERE {_EXPRESSIBLE}"
        )
        return frozenset(
            (source, kind, named)
            for sample in self._outline.samples
            if sample.primary in {period.name for period in sample.periods}
            for source, kind, named in query_metrics(
                sample.run, statement, periods=[str(sample.primary)]
            )
        )

    def _rows(
        self, sample: Sample, period: str, series: Mapping[SeriesKey, str]
    ) -> Iterator[Document]:
        statement = (
            "SELECT source, type, to_json(names)::VARCHAR, "  # noqa: S608
            "begin_ms, end_ms, monotonic_ms, value "
            f"FROM rows WHERE {_EXPRESSIBLE}"
        )
        place = f"{sample.folder}/{period}" if sample.folder else period
        before = _json(
            {"cdm": {"ver": str(self._version)}, "run": {"run-uuid": self._identity.run}}
        )
        for batch in metric_batches(sample.run, statement, period=period):
            for source, kind, named, begin_ms, end_ms, monotonic_ms, value in batch:
                uuid = series.get((source, kind, named))
                # Of a running trial this may be a series that was not there a moment ago.
                if uuid is None:
                    continue
                text = (
                    f'{before[:-1]},"metric_desc":{{"metric_desc-uuid":"{uuid}"}},'
                    f'"metric_data":{{"begin":{begin_ms},"end":{end_ms - 1},'
                    f'"duration":{end_ms - begin_ms},"value":{value!r}}}}}'
                )
                # The wall clock may be set back; the other never runs backwards.
                identity = f"{uuid}:{place}:{begin_ms}:{monotonic_ms}"
                yield self._document("metric_data", identity, text)

    def _document(self, kind: str, identity: str, text: str) -> Document:
        return Document(kind, self._version.index_of(kind, self._outline.begin_ms), identity, text)


def _json(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
