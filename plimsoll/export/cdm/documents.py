"""All documents of a run, one after the other: first what is small, then the metrics.

The run's own comes last, as from Crucible: what is listed as a run is complete. Begin and end
are whole milliseconds, both within the range, so that `duration` is end - begin + 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plimsoll.export.cdm.document import CdmDocument, CdmVersion, DocumentIds, Fields
from plimsoll.export.cdm.metric_documents import MetricDocuments
from plimsoll.export.cdm.run_iterations import (
    PRIMARY_PERIOD,
    PRIMARY_SOURCE,
    PRIMARY_TYPE,
    CdmIteration,
    CdmSample,
    Outline,
)
from plimsoll.record.run.environment import load_environment
from plimsoll.record.run.run_directory import RunDirectory

_HARNESS = "plimsoll"


@dataclass(frozen=True, slots=True)
class RunOwner:
    """The owner that a run is exported with; none unless given."""

    name: str | None = None
    email: str | None = None


class RunDocuments:
    """The documents of one run, by one version of CDM."""

    def __init__(
        self,
        run: RunDirectory,
        outline: Outline,
        version: CdmVersion,
        *,
        owner: RunOwner | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """`tags` are names and values, for which runs are searched. Raises RecordError."""
        self._outline = outline
        self._version = version
        self._tags = dict(tags or {})
        self._identity = DocumentIds(outline.run_id, outline.started_unix_ns)
        self._run = self._run_fields(run, owner or RunOwner())

    def __iter__(self) -> Iterator[CdmDocument]:
        """Each once. Raises RecordError."""
        for name, value in self._tags.items():
            tag = {"tag-uuid": self._identity.of("tag", name), "name": name, "val": value}
            yield self._document("tag", tag["tag-uuid"], tag=tag)
        for iteration in self._outline.iterations:
            yield from self._of_iteration(iteration)
        yield from self._metrics()
        yield self._document("run", self._identity.run)

    @property
    def count(self) -> int:
        """How many there are at most, for who shows how far it is. Raises RecordError."""
        iterations, samples = self._outline.iterations, self._outline.samples
        small = 1 + len(self._tags) + len(iterations) + len(samples)
        small += sum(len(each.params) for each in iterations)
        small += sum(len(list(each.all_periods)) for each in samples)
        return small + self._metrics().count

    @property
    def indices(self) -> Mapping[str, str]:
        """Kind to index, for all kinds that there may be."""
        kinds = (
            *("run", "tag", "iteration", "param"),
            *("sample", "period", "metric_desc", "metric_data"),
        )
        return {kind: self._index(kind) for kind in kinds}

    def _metrics(self) -> MetricDocuments:
        return MetricDocuments(self._outline, self._version, self._identity, self._run)

    def _of_iteration(self, iteration: CdmIteration) -> Iterator[CdmDocument]:
        number = iteration.number
        of_iteration: Fields = {
            "iteration-uuid": self._identity.of("iteration", number),
            "num": number,
            "status": _status(iteration.passed),
            "primary-metric": f"{PRIMARY_SOURCE}::{PRIMARY_TYPE}",
            "primary-period": PRIMARY_PERIOD,
        }
        for name, value in iteration.params:
            param = {"param-uuid": self._identity.of("param", number, name)}
            param |= {"arg": name, "val": value}
            yield self._document("param", param["param-uuid"], iteration=of_iteration, param=param)
        for sample in iteration.samples:
            yield from self._of_sample(of_iteration, sample)
        yield self._document("iteration", of_iteration["iteration-uuid"], iteration=of_iteration)

    def _of_sample(self, of_iteration: Fields, sample: CdmSample) -> Iterator[CdmDocument]:
        place = (of_iteration["num"], sample.number)
        of_sample: Fields = {
            "sample-uuid": self._identity.of("sample", *place),
            "num": sample.number,
            "status": _status(sample.passed),
        }
        for period in sample.all_periods:
            of_period: Fields = {
                "period-uuid": self._identity.of("period", *place, period.name),
                "name": period.name,
                "begin": period.begin_ms,
                "end": period.end_ms - 1,
            }
            yield self._document(
                "period",
                of_period["period-uuid"],
                iteration=of_iteration,
                sample=of_sample,
                period=of_period,
            )
        uuid = of_sample["sample-uuid"]
        yield self._document("sample", uuid, iteration=of_iteration, sample=of_sample)

    def _run_fields(self, run: RunDirectory, owner: RunOwner) -> Fields:
        environment = load_environment(run.environment)
        host = None if environment is None else environment.host
        fields = {
            "run-uuid": self._identity.run,
            "begin": self._outline.begin_ms,
            "end": self._outline.end_ms - 1,
            "harness": _HARNESS,
            # The source of the primary metric, which older Crucibles look for under this name.
            "benchmark": PRIMARY_SOURCE,
            "host": host,
            "name": owner.name,
            "email": owner.email,
            "source": f"{host or ''}/{run.run_id}",
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _document(self, kind: str, identity: str, **parts: Fields) -> CdmDocument:
        fields = {"cdm": {"ver": str(self._version)}, "run": self._run, **parts}
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return CdmDocument(kind, self._index(kind), identity, text)

    def _index(self, kind: str) -> str:
        return self._version.index_of(kind, self._outline.begin_ms)


def _status(passed: bool) -> str:
    return "pass" if passed else "fail"
