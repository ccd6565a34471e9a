"""The metrics of a run as documents: one for each series, then one for each of its rows.

A series has one descriptor in the whole run, and not one in each period: Crucible's queries
drop the period and go by time, and with one for each trial an average would shrink with the
number of trials.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from plimsoll.export.cdm.document import CdmDocument, CdmVersion, DocumentIds, cdm_names
from plimsoll.export.cdm.run_iterations import CdmSample, Outline
from plimsoll.export.parquet_parts import RecordedPeriod, metric_batches
from plimsoll.record.metrics.metrics import query_metrics

# CDM's name of an aggregation.
_AGGREGATIONS = {"sum": "sum", "mean": "avg", "max": "max", "min": "min"}
# CDM's time is in whole milliseconds, and JSON has finite numbers only.
EXPRESSIBLE = "end_ms > begin_ms AND isfinite(value)"
# Of a trial that was cut short, which has no record.
_UNFINISHED = "unfinished"
# source, type as recorded, and names as JSON.
CdmSeriesKey = tuple[str, str, str]
# source and type as recorded.
_Kind = tuple[str, str]
# A sample's folder in the run, and one of its periods.
_Place = tuple[str, str]


class MetricDocuments:
    """The documents metric_desc and metric_data of a run."""

    def __init__(
        self,
        outline: Outline,
        version: CdmVersion,
        identity: DocumentIds,
        run: Mapping[str, object],
    ) -> None:
        """`run` is what every document but metric_data says of its run."""
        self._outline = outline
        self._version = version
        self._identity = identity
        self._run = run
        self._described: set[str] = set()

    @property
    def count(self) -> int:
        """How many rows there are, cut as they will be; the series come on top.

        Raises RecordError.
        """
        statement = (
            "SELECT count(*) + count_if(begin_ms < ? AND end_ms > ?) "  # noqa: S608
            f"+ count_if(begin_ms < ? AND end_ms > ?) FROM rows WHERE {EXPRESSIBLE}"
        )
        total = 0
        for sample in self._outline.samples:
            for period in sample.periods:
                values = [at for at in _borders(period) for _ in range(2)]
                ((rows,),) = query_metrics(sample.run, statement, values, periods=[period.name])
                total += int(rows)
        return total

    def __iter__(self) -> Iterator[CdmDocument]:
        """Raises RecordError."""
        recorded = RunSeries(self._outline)
        for sample in self._outline.samples:
            for period in sample.periods:
                yield from self._of_period(recorded, sample, period)

    def _of_period(
        self, recorded: RunSeries, sample: CdmSample, period: RecordedPeriod
    ) -> Iterator[CdmDocument]:
        series: dict[CdmSeriesKey, str] = {}
        for key, document in self._descriptors(recorded, sample, period.name):
            series[key] = document.id
            if document.id not in self._described:
                self._described.add(document.id)
                yield document
        yield from self._rows(sample, period, series)

    def _descriptors(
        self, recorded: RunSeries, sample: CdmSample, period: str
    ) -> Iterator[tuple[CdmSeriesKey, CdmDocument]]:
        for each in recorded.of(sample, period):
            source = recorded.source_of(each, sample, period)
            uuid = self._identity.of_series(source, each.type, each.names)
            names = cdm_names(each.names)
            described: dict[str, Any] = {
                "metric_desc-uuid": uuid,
                "class": each.metric_class,
                "type": each.type,
                "source": source,
                "names": names,
                "names-list": list(names),
            }
            if self._version.has_aggregation:
                described["default-aggregation"] = _AGGREGATIONS[each.aggregation]
            fields = {"cdm": {"ver": str(self._version)}, "run": self._run}
            text = _json({**fields, "metric_desc": described})
            yield each.key, self._document("metric_desc", uuid, text)

    def _rows(
        self, sample: CdmSample, period: RecordedPeriod, series: Mapping[CdmSeriesKey, str]
    ) -> Iterator[CdmDocument]:
        statement = (
            "SELECT source, type, to_json(names)::VARCHAR, "  # noqa: S608
            "begin_ms, end_ms, monotonic_ms, value "
            f"FROM rows WHERE {EXPRESSIBLE}"
        )
        place = f"{sample.folder}/{period.name}" if sample.folder else period.name
        borders = _borders(period)
        before = _json(
            {"cdm": {"ver": str(self._version)}, "run": {"run-uuid": self._identity.run}}
        )
        for batch in metric_batches(sample.run, statement, period=period.name):
            for source, kind, named, row_begin_ms, row_end_ms, monotonic_ms, value in batch:
                uuid = series.get((source, kind, named))
                # Of a running trial this may be a series that was not there a moment ago.
                if uuid is None:
                    continue
                for begin_ms, end_ms in _pieces(row_begin_ms, row_end_ms, borders):
                    shown_ms = begin_ms + period.moved_ms
                    last_ms = end_ms + period.moved_ms - 1
                    text = (
                        f'{before[:-1]},"metric_desc":{{"metric_desc-uuid":"{uuid}"}},'
                        f'"metric_data":{{"begin":{shown_ms},"end":{last_ms},'
                        f'"duration":{end_ms - begin_ms},"value":{value!r}}}}}'
                    )
                    # The wall clock may be set back; the other never runs backwards.
                    identity = f"{uuid}:{place}:{begin_ms}:{monotonic_ms}"
                    yield self._document("metric_data", identity, text)

    def _document(self, kind: str, identity: str, text: str) -> CdmDocument:
        return CdmDocument(
            kind, self._version.index_of(kind, self._outline.begin_ms), identity, text
        )


def _borders(period: RecordedPeriod) -> tuple[int, int]:
    """In the time of its rows."""
    return period.begin_ms - period.moved_ms, period.end_ms - period.moved_ms


def _pieces(begin_ms: int, end_ms: int, borders: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """A row's time, cut where its period begins and ends.

    Crucible takes what a query's window cuts of a document 1 ms short; its value is that of
    every part.
    """
    return pairwise([begin_ms, *(at for at in borders if begin_ms < at < end_ms), end_ms])


def _json(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


# The series of a run, and the source that each has in CDM, so that averages come out right.
#
# Crucible's queries drop the period, go by its time, and divide an average by all descriptors
# that the run has of a source and type (CommonDataModel's cdm.js, calcAvg). A trial is therefore
# to have all series of its averaged types or none: one that has others than the measurement, such
# as a calibration, which sends from each port to itself, has these types under a source of its own,
# `trafficgen-engine-calibration`. Sums, maxima and minima bear series that a trial has not, but
# show those of other trials as 0.00 in breakouts; so a series that the measurement has not moves,
# too.
@dataclass(frozen=True, slots=True)
class Series:
    """A series as it is recorded."""

    source: str
    type: str
    metric_class: str
    aggregation: str
    names: Mapping[str, str]
    names_json: str

    @property
    def key(self) -> CdmSeriesKey:
        """What tells it from the run's other series."""
        return self.source, self.type, self.names_json

    @property
    def kind(self) -> _Kind:
        """What queries ask for."""
        return self.source, self.type

    @property
    def is_averaged(self) -> bool:
        """Whether several are drawn together by their mean."""
        return self.aggregation == "mean"


class RunSeries:
    """The series of all periods of a run."""

    def __init__(self, outline: Outline) -> None:
        """Raises RecordError."""
        self._series = {
            (sample.folder, period.name): tuple(_recorded(sample, period.name))
            for sample in outline.samples
            for period in sample.periods
        }
        self._keys = {place: _keys(series) for place, series in self._series.items()}
        self._phases = {
            (sample.folder, period.name): sample.phases.get(period.name, _UNFINISHED)
            for sample in outline.samples
            for period in sample.periods
        }
        self._measurements = [
            place
            for sample in outline.samples
            if (place := (sample.folder, str(sample.primary))) in self._series
        ]
        self._measured = {each.key for place in self._measurements for each in self._series[place]}

    def of(self, sample: CdmSample, period: str) -> Sequence[Series]:
        """Those of one period, by source, type and names."""
        return self._series[sample.folder, period]

    def source_of(self, series: Series, sample: CdmSample, period: str) -> str:
        """Its source in CDM: the recorded one, or that with what the trial was for behind it."""
        place = (sample.folder, period)
        if not self._measurements:
            return series.source
        if not series.is_averaged:
            return series.source if series.key in self._measured else self._by_phase(series, place)
        if self._keys[place][series.kind] == self._measured_keys(series.kind):
            return series.source
        return self._averaged_apart(series, place)

    def _measured_keys(self, kind: _Kind) -> frozenset[CdmSeriesKey]:
        """The series of the first measurement that has any of the kind."""
        found = (self._keys[place].get(kind) for place in self._measurements)
        return next(filter(None, found), frozenset())

    def _averaged_apart(self, series: Series, place: _Place) -> str:
        """By the trial's phase, or by the trial where others of the phase have other series."""
        usual = self._measured_keys(series.kind)
        of_phase = {
            keys[series.kind]
            for other, keys in self._keys.items()
            if self._phases[other] == self._phases[place] and series.kind in keys
        }
        if len(of_phase - {usual}) == 1:
            return self._by_phase(series, place)
        return "-".join([series.source, *filter(None, place)]).replace("/", "-")

    def _by_phase(self, series: Series, place: _Place) -> str:
        return f"{series.source}-{self._phases[place]}"


def _recorded(sample: CdmSample, period: str) -> Iterator[Series]:
    statement = (
        "SELECT DISTINCT source, type, class, aggregation, names, "  # noqa: S608
        "to_json(names)::VARCHAR AS named "
        f"FROM rows WHERE {EXPRESSIBLE} ORDER BY source, type, named"
    )
    for row in query_metrics(sample.run, statement, periods=[period]):
        yield Series(*row)


def _keys(series: Sequence[Series]) -> dict[_Kind, frozenset[CdmSeriesKey]]:
    """The series of each kind."""
    kinds: dict[_Kind, set[CdmSeriesKey]] = {}
    for each in series:
        kinds.setdefault(each.kind, set()).add(each.key)
    return {kind: frozenset(keys) for kind, keys in kinds.items()}
