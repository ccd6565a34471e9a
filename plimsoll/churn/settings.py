"""A churn experiment as it is written."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    StrictInt,
    field_validator,
    model_validator,
)

from plimsoll.benchmark.experiment.set_field import SetField, with_fields
from plimsoll.churn.criteria.criteria import ChurnCriterion
from plimsoll.churn.driver.workload import OBJECT_SETS, ObjectSet
from plimsoll.churn.kpis.prometheus import PrometheusSettings
from plimsoll.churn.latency.probes import LatencyProbeSettings
from plimsoll.churn.pod_streams.stream_pods import ClusterNetwork, StreamPods
from plimsoll.churn.streams.networks import LocalNetwork
from plimsoll.text.document import Document, read_document
from plimsoll.text.mistakes import did_you_mean, mistake
from plimsoll.text.named_program import NotRun, ProgramPath
from plimsoll.text.units import WRITTEN, DurationField, RatioField

NetworkSettings = Annotated[LocalNetwork | ClusterNetwork, Field(discriminator="kind")]
# What people call a network.
NetworkName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$")]
# The network of a run without streams.
NO_STREAMS = "none"


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OwnCluster(_Settings):
    """A control plane of our own on this machine, with nodes that are made up.

    `programs` is the folder that has its programs; else they are on PATH. `nodes` are fake: they
    start nothing, and say after `pod_start` that a pod is ready. `resources` are further ones
    that each has.
    """

    kind: Literal["own"]
    programs: Annotated[str, ProgramPath()] | None = None
    nodes: Annotated[PositiveInt, Field(le=1000)] = 10
    pod_start: Annotated[DurationField, Field(ge=0)] | Literal[0] = 0
    resources: Mapping[str, str] = {"hugepages-1Gi": "160Gi"}


class GivenCluster(_Settings):
    """The cluster that a kubeconfig leads to, by default kubectl's own and its current context.

    Latencies of etcd, and CPU and memory of the nodes, are known to its `prometheus` alone.
    """

    kind: Literal["kubeconfig"]
    # It may name programs that hand out credentials.
    kubeconfig: Annotated[str, ProgramPath()] | None = None
    context: str | None = None
    prometheus: PrometheusSettings | None = None


ClusterSettings = Annotated[OwnCluster | GivenCluster, Field(discriminator="kind")]


class WorkloadSettings(_Settings):
    """The namespaces that are made and churned, and how fast requests for it may follow.

    `objects` are those of each namespace, written in place or as the name of a set. `timeout`
    bounds each phase of a cycle. `dpdk_requests` are further resources of DPDK pods.
    """

    namespaces: Annotated[PositiveInt, Field(le=5000)] = 4
    objects: ObjectSet = OBJECT_SETS["rds-core"]
    qps: Annotated[PositiveFloat, Field(le=10_000)] = 20
    burst: Annotated[PositiveInt, Field(le=10_000)] = 20
    timeout: Annotated[DurationField, Field(gt=0)] = 600.0
    image: Annotated[str, Field(min_length=1), NotRun("of pods, in a cluster")] = (
        "registry.k8s.io/pause:3.10"
    )
    dpdk_requests: Mapping[str, str] = {}

    @field_validator("objects", mode="before")
    @classmethod
    def _may_be_named(cls, written: object) -> object:
        if not isinstance(written, str):
            return written
        if written not in OBJECT_SETS:
            raise mistake(
                f"{written} is not a set of objects",
                did_you_mean(written, list(OBJECT_SETS), f"name one of {', '.join(OBJECT_SETS)}"),
            )
        return OBJECT_SETS[written]


class ChurnSettings(_Settings):
    """The levels, in percent of the namespaces, and how each cycle goes (docs/churn.md).

    A cell churns for `duration` and at most `cycles` cycles (0: no bound), and a cell of level 0
    lasts as long without churn. `before` is measured first, for what is undisturbed, and `after`
    last.
    """

    levels: Annotated[
        tuple[Annotated[float, Field(ge=0, le=100)], ...], Field(min_length=1, max_length=32)
    ] = (0.0, 10.0, 50.0, 100.0)
    duration: Annotated[DurationField, Field(gt=0)] = 60.0
    cycles: Annotated[StrictInt, Field(ge=0)] = 0
    delay: Annotated[DurationField, Field(ge=0)] | Literal[0] = 5.0
    deletion_delay: Annotated[DurationField, Field(ge=0)] | Literal[0] = 0
    before: Annotated[DurationField, Field(ge=2)] = 10.0
    after: Annotated[DurationField, Field(gt=0)] = 5.0

    @field_validator("levels")
    @classmethod
    def _each_once(cls, levels: tuple[float, ...]) -> tuple[float, ...]:
        for place, level in enumerate(levels):
            if level in levels[:place]:
                raise mistake(f"{level:g} is named twice", "name each level once", place)
        return levels


class StreamSettings(_Settings):
    """The streams of each cell: a pair of pods for each, on one of the networks.

    `rate_mbps` is the pace of each in Mbit/s of payload; null: as fast as it goes.
    `theoretical_mbps` is what each could carry at most, by default its pace. The throughput is
    recorded every `interval`, and dips are looked for in steps of `step`. `latency_probe` sends
    UDP between the pods of the first pairs, next to their streams. `pods` are those of networks
    that are a cluster's; other networks are of this machine.
    """

    networks: Annotated[Mapping[NetworkName, NetworkSettings], Field(min_length=1, max_length=16)]
    pairs: Annotated[PositiveInt, Field(le=200)] = 2
    rate_mbps: PositiveFloat | None = 30.0
    theoretical_mbps: PositiveFloat | None = None
    interval: Annotated[DurationField, Field(ge=0.1, le=60)] = 0.1
    step: Annotated[DurationField, Field(ge=0.1, le=60)] = 1.0
    latency_probe: LatencyProbeSettings | None = None
    pods: StreamPods | None = None

    @model_validator(mode="after")
    def _pods_are_where_networks_are(self) -> Self:
        of_cluster = [name for name, each in self.networks.items() if _is_of_cluster(each)]
        if of_cluster and self.pods is None:
            raise mistake(
                f"the network {of_cluster[0]} is a cluster's, and its pods are not said",
                "give them a namespace and an image: streams.pods",
                "pods",
            )
        if self.pods is not None and not of_cluster:
            raise mistake(
                "no network of these is a cluster's",
                "leave pods out, or name a network of kind pod-network, host-network or attachment",
                "pods",
            )
        return self

    @model_validator(mode="after")
    def _probed_pairs_exist(self) -> Self:
        if self.latency_probe is not None and self.latency_probe.pairs > self.pairs:
            raise mistake(
                f"there are only {self.pairs} pairs of streams",
                "probe as many or fewer, or give streams more pairs",
                "latency_probe",
                "pairs",
            )
        return self

    @model_validator(mode="after")
    def _steps_are_not_finer(self) -> Self:
        if self.step < self.interval:
            raise mistake(
                "is finer than the interval", "give a step of an interval or more", "step"
            )
        return self

    @property
    def theoretical_bps(self) -> float | None:
        """Of all pairs together."""
        each = self.theoretical_mbps or self.rate_mbps
        return None if each is None else each * 1e6 * self.pairs


def _is_of_cluster(network: NetworkSettings) -> bool:
    return isinstance(network, ClusterNetwork)


class DipSettings(_Settings):
    """When the throughput is in a dip, and which dips belong to churn.

    Below the reference by `least` of it and by `sigmas` of its noise; those within `join` of each
    other are one. One that begins up to `lag` after a phase still counts as of it.
    """

    least: Annotated[RatioField, Field(gt=0, lt=1)] = 0.05
    sigmas: PositiveFloat = 4.0
    join: Annotated[DurationField, Field(gt=0)] = 1.0
    lag: Annotated[DurationField, Field(gt=0)] = 2.0


class ChurnExperiment(_Settings):
    """A matrix of networks and levels, each cell run `repetitions` times.

    Without `streams` the control plane alone is measured. `sample` is how often its figures are
    read. `seed` draws the order of each round and which namespaces are churned; without one it is
    drawn itself, and recorded.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    cluster: ClusterSettings
    workload: WorkloadSettings = WorkloadSettings()
    churn: ChurnSettings = ChurnSettings()
    streams: StreamSettings | None = None
    dips: DipSettings = DipSettings()
    criteria: tuple[ChurnCriterion, ...] = ()
    repetitions: Annotated[PositiveInt, Field(le=100)] = 1
    sample: Annotated[DurationField, Field(ge=1)] = 5.0
    seed: Annotated[StrictInt, Field(ge=0, lt=2**32)] | None = None

    @model_validator(mode="after")
    def _pods_are_started(self) -> Self:
        own = isinstance(self.cluster, OwnCluster)
        if own and self.streams is not None and self.streams.pods is not None:
            raise mistake(
                "the nodes of a cluster of kind own are made up, and start no pod",
                "use a cluster of kind kubeconfig, or networks of kind host, macvlan or ovn",
                "streams",
                "pods",
            )
        return self

    @property
    def networks(self) -> tuple[str, ...]:
        """Their names, in order."""
        return (NO_STREAMS,) if self.streams is None else tuple(self.streams.networks)

    def normalised(self) -> dict[str, Any]:
        """As a document of plain values, with units, that loads as this very experiment."""
        document: dict[str, Any] = self.model_dump(mode="json", context=WRITTEN, exclude_none=True)
        return document


def load_churn(path: Path, settings: Sequence[SetField] = ()) -> ChurnExperiment:
    """Read an experiment with fields set. Raises InputError naming file, line and field."""
    document, unresolved = with_fields(read_document(path), settings)
    if unresolved:
        raise unresolved[0][1]
    return _validated(document)


def _validated(document: Document) -> ChurnExperiment:
    named = {"name": document.path.stem, **document.data}
    return replace(document, data=named).validate(ChurnExperiment)


def of_record(document: Mapping[str, object]) -> ChurnExperiment:
    """The experiment of a run's record."""
    return ChurnExperiment.model_validate(document, context=WRITTEN)


# The cells of a churn run and their order.
@dataclass(frozen=True, slots=True)
class ChurnCellPlan:
    """One network at one level, for the `repetition`-th time, counted from 1."""

    network: str
    percent: float
    repetition: int

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.network}, {self.percent:g} %, repetition {self.repetition}"


def in_order(
    networks: Sequence[str], levels: Sequence[float], repetitions: int, seed: int
) -> list[ChurnCellPlan]:
    """Every round has each cell once, in an order of its own, so that drift favours none."""
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    order: list[ChurnCellPlan] = []
    for repetition in range(1, repetitions + 1):
        cells = [
            ChurnCellPlan(network, percent, repetition)
            for network in networks
            for percent in levels
        ]
        chance.shuffle(cells)
        order += cells
    return order


def chance_of(cell: ChurnCellPlan, seed: int) -> random.Random:
    """Draws the windows of a cell: the same whenever it is run."""
    text = f"{seed}/{cell.network}/{cell.percent}/{cell.repetition}"
    return random.Random(text)  # noqa: S311 - no secret
