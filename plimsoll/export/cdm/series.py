"""The series of a run, and the source that each has in CDM, so that averages come out right.

Crucible's queries drop the period, go by its time, and divide an average by all descriptors
that the run has of a source and type (CommonDataModel's cdm.js, calcAvg). A trial is therefore
to have all series of its averaged types or none: one that has others than the measurement, such
as a calibration, which sends from each port to itself, has these types under a source of its own,
`trafficgen-engine-calibration`. Sums, maxima and minima bear series that a trial has not, but show
those of other trials as 0.00 in breakouts; so a series that the measurement has not moves, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.export.cdm.outline import CdmSample, Outline
from plimsoll.record.metrics.metrics import query_metrics

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
