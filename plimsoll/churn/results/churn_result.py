"""The result of a churn run: what churning a cluster did to streams, by network and level."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import Verdict, whole_verdict

# The journal's events: a cell that came to its end, and the workload made at a session's start.
CELL, WORKLOAD = "churn-cell", "churn-workload"


class ChurnPhaseRecord(RecordModel):
    """A phase of a cycle: namespaces deleted until gone, or made until their pods were ready."""

    cycle: int = Field(
        description="The cycle's number in the cell, from 1; 0 is the creation before "
        "the first cell."
    )
    kind: Literal["delete", "create"] = Field(
        description="delete, until all were gone; create, until all pods were ready."
    )
    namespaces: int = Field(description="How many it deleted or made.")
    begin_unix_ns: int = Field(
        description="When its first request was sent: UTC, in ns since 1970."
    )
    end_unix_ns: int = Field(description="When it was over: UTC, in ns since 1970.")
    made_unix_ns: int | None = Field(
        default=None,
        description="When the last object was made: UTC, in ns since 1970; null of a deletion.",
    )
    complete: bool = Field(description="Whether it came to its end in time.")

    @property
    def length_s(self) -> float:
        """How long it took."""
        return (self.end_unix_ns - self.begin_unix_ns) / 1e9


class Dip(RecordModel):
    """A dip of the streams' total throughput."""

    begin_s: float = Field(description="From the begin of the cell, in s.")
    end_s: float = Field(description="End, from the begin of the cell, in s.")
    depth: float = Field(description="Share of the reference missing at its lowest.")
    lost_bits: float = Field(description="Area between the reference and the throughput.")
    cycle: int | None = Field(description="The churn's cycle that it falls into; null: into none.")
    probe_p99_us: float | None = Field(
        default=None,
        description="p99 latency of the UDP datagrams sent in it, in µs; null where none came.",
    )


class StreamFigures(RecordModel):
    """What the streams of a cell carried. Rates are of payload, of all pairs together, in bps."""

    pairs: int = Field(description="How many pairs of client and server there were.")
    reference_bps: float = Field(description="Median before the churn began, in bits per second.")
    mean_bps: float = Field(description="Mean from the churn's begin on, in bits per second.")
    least_bps: float = Field(description="Lowest step in that time, in bits per second.")
    theoretical_bps: float | None = Field(
        description="Theoretical rate of all pairs together, in bits per second; null if unknown."
    )
    noise: float = Field(description="Standard deviation before the churn, as share.")
    pairs_mean_bps: tuple[float, ...] = Field(
        description="The same mean by pair, in bits per second."
    )
    retransmits: int = Field(
        description="Segments that senders sent again, of all pairs, over the whole stream."
    )
    connect_s: float = Field(description="From a client's start to its first interval, in s.")
    nodes: tuple[tuple[str, str], ...] = Field(
        default=(),
        description="The client's and the server's node of each pair of pods of a cluster.",
    )
    clock_error_s: float = Field(
        default=0.0,
        description="By how much times may be off, in s: half of the quickest exchange with the "
        "node of a client. 0 where streams and churn have one clock.",
    )

    @property
    def kept(self) -> float:
        """The mean as share of the reference."""
        return self.mean_bps / self.reference_bps if self.reference_bps else 0.0


class ProbeFigures(RecordModel):
    """What UDP datagrams at a fixed rate met on the streams' way, from the churn's begin on.

    Latency is from the sender's call to the kernel's stamp on arrival, in µs: one way, or with
    `round_trip` both ways without the time that the far end held a datagram.
    """

    pairs: int = Field(description="How many pairs had a probe.")
    round_trip: bool = Field(
        default=False, description="Whether latency is of both ways, as between pods of a cluster."
    )
    sent: int = Field(description="Datagrams of all pairs.")
    lost: int = Field(description="Those of them that never came.")
    unsent: int = Field(
        description="Datagrams of the whole cell that were due while the prober had no CPU."
    )
    duplicates: int = Field(description="Datagrams of the whole cell that came once more.")
    before_p50_us: float = Field(description="Median before the churn began, in µs.")
    before_p99_us: float = Field(description="99th percentile before the churn began, in µs.")
    p50_us: float = Field(description="Median, in µs.")
    p95_us: float = Field(description="95th percentile, in µs.")
    p99_us: float = Field(description="99th percentile, in µs.")
    p99_9_us: float = Field(description="99.9th percentile, in µs.")
    max_us: float = Field(description="The longest, in µs.")
    histogram: tuple[tuple[int, int], ...] = Field(
        description="Datagrams by whole microseconds, rounded down; those without any left out."
    )

    @property
    def loss(self) -> float:
        """Share of those sent that never came."""
        return self.lost / self.sent


class Match(RecordModel):
    """How many dips fell together with churn, and what chance alone would match."""

    dips: int = Field(description="How many dips the cell had.")
    matched: int = Field(description="How many of them touch a phase of the churn.")
    chance: float | None = Field(description="Share that would match by chance; null: no churn.")
    p: float | None = Field(description="Share of shifts that match at least as many.")

    @property
    def share(self) -> float | None:
        """Of the dips, those that touch churn; None without dips."""
        return self.matched / self.dips if self.dips else None


class ReadinessEnd(RecordModel):
    """What pods took to be ready at least, or at most."""

    p50_ms: float = Field(description="Median, in ms.")
    p95_ms: float = Field(description="95th percentile, in ms.")
    p99_ms: float = Field(description="99th percentile, in ms.")
    max_ms: float = Field(description="The longest, in ms.")


class PodReadiness(RecordModel):
    """How long pods of a kind took to be ready.

    `*_ms` by our own watch, from the pod's being seen to its being ready, where that was not
    broken at the time (`by_conditions`). `condition_*_s` from
    creationTimestamp to the condition Ready, in whole seconds, the quantiles as kube-burner has
    them.
    """

    kind: str = Field(description="server, client or dpdk; all: of every kind.")
    pods: int = Field(description="How many pods became ready.")
    p50_ms: float = Field(description="Median, in ms, by our own watch.")
    p95_ms: float = Field(description="95th percentile, in ms, by our own watch.")
    p99_ms: float = Field(description="99th percentile, in ms, by our own watch.")
    max_ms: float = Field(description="The longest, in ms, by our own watch.")
    by_conditions: int = Field(
        default=0,
        description="Of these pods, those that the watch missed, whose ms are of their conditions, "
        "in whole seconds.",
    )
    low: ReadinessEnd | None = Field(
        default=None,
        description="What the pods took at least: by conditions, a second less. Null where the "
        "watch missed none, and in results of earlier versions.",
    )
    high: ReadinessEnd | None = Field(
        default=None,
        description="What the pods took at most: by conditions, a second more. Null where `low` "
        "is.",
    )
    condition_p50_s: float | None = Field(
        description="Median by conditions, in s; null if no pod reports it."
    )
    condition_p95_s: float | None = Field(
        description="95th percentile by conditions, in s; null if no pod reports it."
    )
    condition_p99_s: float | None = Field(
        description="99th percentile by conditions, in s; null if no pod reports it."
    )
    condition_max_s: float | None = Field(
        description="The longest by conditions, in s; null if no pod reports it."
    )


class LatencyFigures(RecordModel):
    """Latencies over a whole cell, by histogram_quantile of what was observed in it."""

    name: str = Field(description="read-only or mutating; wal-fsync, backend-commit, …")
    verb: str = Field(default="", description="The verb of the API server's requests of one kind.")
    resource: str = Field(
        default="",
        description="The resource of the API server's requests: pods, secrets, …; empty "
        "if they have none.",
    )
    count: float = Field(description="How many ended in the time that the figures are of.")
    p50_ms: float | None = Field(description="Median, in ms; null if nothing was observed.")
    p95_ms: float | None = Field(
        description="95th percentile, in ms; null if nothing was observed."
    )
    p99_ms: float | None = Field(
        description="99th percentile, in ms; null if nothing was observed."
    )


class ComponentUsage(RecordModel):
    """CPU time and memory of a component over a cell; `machine` is all of this machine."""

    component: str = Field(description="etcd, kube-apiserver, …; machine: all of this machine.")
    cores: float = Field(description="CPUs kept busy, on average.")
    resident_bytes: float = Field(description="Memory resident, on average, in bytes.")


class ControlPlaneFigures(RecordModel):
    """The KPIs of a cell, or of the workload's creation."""

    readiness: tuple[PodReadiness, ...] = Field(
        description="How long pods took to be ready, by kind."
    )
    requests: tuple[LatencyFigures, ...] = Field(
        description="The API server's requests by verb and resource, the most frequent first."
    )
    requests_by_kind: tuple[LatencyFigures, ...] = Field(
        description="The same, all read-only and all mutating ones together."
    )
    etcd: tuple[LatencyFigures, ...] = Field(description="etcd's latencies, by what they are of.")
    usage: tuple[ComponentUsage, ...] = Field(description="CPUs and memory, by component.")
    prometheus: dict[str, float | None] | None = Field(
        default=None, description="The same by the cluster's Prometheus; null where none is given."
    )
    unread: dict[str, str] = Field(
        default={}, description="Why a component could not be read, by component."
    )


class ChurnCell(RecordModel):
    """One network at one level, once."""

    network: str = Field(description="The network's name; none of a run without streams.")
    percent: float = Field(
        description="Share of the namespaces that is churned in each cycle, in percent."
    )
    repetition: int = Field(description="Counted from 1.")
    period: str = Field(description="The metrics' period that it is recorded in.")
    begin_unix_ns: int = Field(
        description="When its undisturbed part began: UTC, in ns since 1970."
    )
    churn_begin_unix_ns: int = Field(description="When its churn began: UTC, in ns since 1970.")
    end_unix_ns: int = Field(description="When it was over: UTC, in ns since 1970.")
    phases: tuple[ChurnPhaseRecord, ...] = Field(description="What was deleted and made, in order.")
    streams: StreamFigures | None = Field(
        description="The streams' figures; null if no streams were sent."
    )
    probe: ProbeFigures | None = Field(
        default=None, description="UDP latency next to the streams; null where none was probed."
    )
    dips: tuple[Dip, ...] = Field(description="The dips from the begin of the churn on, in order.")
    match: Match | None = Field(
        description="How dips match with churn; null where no streams were sent."
    )
    control_plane: ControlPlaneFigures = Field(
        description="The KPIs from the begin of the churn on."
    )
    findings: tuple[FindingRecord, ...] = Field(description="What the criteria say of it.")
    verdict: Verdict = Field(
        description="pass; fail: a criterion was broken; invalid: it cannot be judged; none: not "
        "judged."
    )
    reason: str | None = Field(default=None, description="Why it is invalid or failed; else null.")

    @property
    def cycles(self) -> int:
        """How many cycles were gone through with."""
        return sum(each.kind == "create" and each.complete for each in self.phases)

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.network}, {self.percent:g} %"


class WorkloadRecord(RecordModel):
    """The workload as a session made it, before its first cell."""

    period: str = Field(description="The metrics' period that its creation is recorded in.")
    namespaces: int = Field(description="How many were made.")
    objects: int = Field(description="Objects in each namespace that the driver made.")
    pods: int = Field(description="Pods in each namespace.")
    missing: tuple[str, ...] = Field(description="Kinds that the cluster does not serve.")
    creation: ChurnPhaseRecord = Field(description="When they were made, and how long that took.")
    control_plane: ControlPlaneFigures = Field(description="The KPIs while they were made.")


class ChurnResult(RecordModel):
    """What a churn run found."""

    method: Literal["churn"] = Field(
        default="churn", description="What was run, by the name of its command."
    )
    run_id: str = Field(description="The run directory's name.")
    name: str = Field(description="The name in the file that was run.")
    seed: int = Field(description="Draws the order of the cells, and which namespaces are churned.")
    networks: tuple[str, ...] = Field(
        description="The names of the networks, as the experiment has them."
    )
    levels: tuple[float, ...] = Field(description="Levels of churn, in percent of the namespaces.")
    repetitions: int = Field(description="How often each cell was to be run.")
    fake_nodes: int | None = Field(
        description="How many nodes were made up, which start nothing; null of a real cluster."
    )
    workloads: tuple[WorkloadRecord, ...] = Field(
        description="The workload, as each session of the run made it."
    )
    cells: tuple[ChurnCell, ...] = Field(
        description="Those that came to their end, in the order in which they were run."
    )
    notes: tuple[str, ...] = Field(description="Remarks on how to read the numbers.")
    versions: dict[str, str | None] = Field(
        description="Versions by component (plimsoll, engine, DPDK, Python); null of one not used."
    )

    @property
    def verdict(self) -> Verdict:
        """Fail where a cell failed, else invalid where one was; "none" where none was judged."""
        return whole_verdict(cell.verdict for cell in self.cells)
