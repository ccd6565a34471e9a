"""Spikes: the longest stalls and the worst latencies of a run, each with its time."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from pathlib import Path
from typing import Literal

import msgspec

from plimsoll.generator.interface import Interval, StreamCounts
from plimsoll.generator.latency_ends import least_longest_ns
from plimsoll.record.causes.causes_record import Cause, ExplainedIncident, TrialCauses
from plimsoll.record.files.growing_files import Closeable, SettlingFile, TimeSteps, open_stretch
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.table_file import TableSchema
from plimsoll.record.run.file_check import require_intact_paths
from plimsoll.record.run.listed_files import ListedFiles
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.plan import StreamPlan

_NS_PER_MS = 1e6
_KEPT_OF_A_STEP = 10

SPIKES = TableSchema(
    {
        "kind": "VARCHAR",
        "trial": "INTEGER",
        "begin_ms": "DOUBLE",
        "end_ms": "DOUBLE",
        "length_ns": "BIGINT",
        "cpu": "INTEGER",
        "tsc": "UBIGINT",
        "stream": "VARCHAR",
        "attribution": "VARCHAR",
        "cause": "VARCHAR",
        "confidence": "VARCHAR",
        "woken_by": "VARCHAR",
    },
    added=("cause", "confidence", "woken_by"),
)


@dataclass(frozen=True, slots=True)
class Spike:
    """A stall of the tester, or the worst latency of a stream in one interval.

    `begin_ms` and `end_ms` (since the epoch) are the stall's own, or those of the
    interval in which the frame came back. `length_ns` is the stall or the latency, `tsc`
    the time stamp counter at the stall's end, by which a kernel trace can be searched.
    An "unattributed" latency is not the tester's: what its stalls may have taken is not in it.
    One is attributed to a "tester stall" when stalls may have made it longer than that, by more
    than an eighth.
    `cause`, with its `confidence` and who set it off, is what explains it by the kernel's
    events and counters; null where nothing was explained.
    """

    kind: Literal["stall", "latency"]
    trial: int
    begin_ms: float
    end_ms: float
    length_ns: int
    cpu: int | None
    tsc: int | None
    stream: str | None
    attribution: str
    cause: str | None = None
    confidence: str | None = None
    woken_by: str | None = None


TESTER_STALL = "tester stall"
UNATTRIBUTED = "unattributed"


def interval_spikes(trial: int, plans: Sequence[StreamPlan], interval: Interval) -> Iterator[Spike]:
    """The stalls that the interval lists, and each stream's worst latencies in it."""
    end_ms = interval.end_unix_ns / _NS_PER_MS
    trial_begin_ms = end_ms - interval.end_s * 1e3
    for worker in interval.workers:
        for stall in worker.longest:
            stall_end_ms = trial_begin_ms + stall.at_s * 1e3
            begin_ms = stall_end_ms - stall.length_ns / _NS_PER_MS
            yield Spike(
                "stall",
                trial,
                begin_ms,
                stall_end_ms,
                stall.length_ns,
                worker.cpu,
                stall.tsc,
                None,
                TESTER_STALL,
            )
    yield from _worst_latencies(trial, plans, interval)


def _worst_latencies(
    trial: int, plans: Sequence[StreamPlan], interval: Interval
) -> Iterator[Spike]:
    names = {plan.stream: plan.name for plan in plans}
    end_ms = interval.end_unix_ns / _NS_PER_MS
    begin_ms = end_ms - (interval.end_s - interval.begin_s) * 1e3
    for counts in interval.streams:
        for worst_ns, attribution in (
            (least_longest_ns(counts), UNATTRIBUTED),
            (_longest_by_stalls_ns(counts), TESTER_STALL),
        ):
            if worst_ns is not None:
                name = names[counts.stream]
                yield Spike(
                    "latency", trial, begin_ms, end_ms, worst_ns, None, None, name, attribution
                )


def _longest_by_stalls_ns(counts: StreamCounts) -> int | None:
    """The longest that stalls may have delayed by more than an eighth of what else is the DUT's."""
    longest_ns, certain_ns = counts.latency_across_stalls.max_ns, least_longest_ns(counts) or 0
    return None if longest_ns is None or longest_ns * 7 <= certain_ns * 8 else longest_ns


class SpikeLog(Closeable):
    """Appends spikes to JSON lines; `convert` moves them into spikes.parquet.

    In a trial's first ten minutes all of them; then, of each minute, the longest of each
    kind and attribution. `left_out` counts the others since the last `convert`.
    """

    def __init__(self, run: RunDirectory) -> None:
        """Go on where an earlier writer of this run stopped. Raises RecordError."""
        self._growing = _growing(run)
        self._finished = run.spikes
        self._file = SettlingFile(self._growing)
        self._steps = TimeSteps()
        self._step: dict[tuple[str, str], list[Spike]] = {}
        self.left_out: Counter[str] = Counter()

    def append(self, trial: int, plans: Sequence[StreamPlan], interval: Interval) -> None:
        """Record the spikes of one interval. Raises RecordError."""
        if self._steps.begins_anew(interval):
            self.settle()
        spikes = list(interval_spikes(trial, plans, interval))
        if not self._steps.coarse(interval):
            self._file.append(map(_line, spikes))
            return
        self._file.hold(map(_line, spikes))
        for spike in spikes:
            self._step.setdefault((spike.kind, spike.attribution), []).append(spike)
        if self._steps.ends_with(interval):
            self.settle()

    def settle(self) -> None:
        """Write the open step, if there is one: its trial has ended. Raises RecordError."""
        self._steps.end()
        if not self._step:
            return
        kept: list[Spike] = []
        for (kind, attribution), spikes in self._step.items():
            kept += nlargest(_KEPT_OF_A_STEP, spikes, key=lambda spike: spike.length_ns)
            self.left_out[f"{kind}, {attribution}"] += max(0, len(spikes) - _KEPT_OF_A_STEP)
        self._file.settle(map(_line, kept))
        self._step = {}

    @property
    def empty(self) -> bool:
        """Whether all spikes are in spikes.parquet."""
        return self._file.empty and not self._step

    def convert(self) -> None:
        """Move all spikes so far into spikes.parquet and go on."""
        self.settle()
        self.left_out.clear()
        self._file.close()
        SPIKES.convert(self._growing, self._finished)
        self._file = SettlingFile(self._growing)

    def close(self) -> None:
        """Close the file, and remove it when it holds nothing; safe to repeat."""
        self._file.close()
        if self._file.empty and not open_stretch(self._growing).exists():
            # One that is empty and stays says nothing.
            with contextlib.suppress(OSError):
                self._growing.unlink()


def read_spikes(run: RunDirectory) -> list[Spike]:
    """All spikes of a run by time, also of the trial that is running. Raises RecordError."""
    listed = ListedFiles.of(run)
    known = run.spikes.name in listed.journal.sums
    finished = [run.spikes] if known or listed.present(run.spikes) else []
    require_intact_paths(run, finished)
    growing = [_growing(run), open_stretch(_growing(run))]
    rows = SPIKES.read(
        finished,
        [path for path in growing if listed.present(path)],
        order_by="begin_ms, trial, kind, cpu",
    )
    # A step that a kill left half settled is in both files.
    return [Spike(*row) for row in dict.fromkeys(rows)]


def _line(spike: Spike) -> str:
    return msgspec.json.encode(spike).decode()


def _growing(run: RunDirectory) -> Path:
    return run.spikes.with_suffix(".jsonl")


# The interval's worst latency and the engine's list of the worst are of one frame; only their
# roundings from ticks to ns differ.
_ROUNDING_NS = 2


def attribute_spikes(run: RunDirectory, causes: TrialCauses) -> int:
    """Write the causes into the trial's spikes and return how many have one now.

    To be called by the run's writer after the trial has ended. Raises RecordError.
    """
    if not run.spikes.exists():
        return 0
    spikes = [_with_cause(spike, causes) for spike in read_spikes(run)]
    explained = sum(spike.trial == causes.trial and spike.cause is not None for spike in spikes)
    if explained:
        _replace(run, spikes)
    return explained


def _with_cause(spike: Spike, causes: TrialCauses) -> Spike:
    if spike.trial != causes.trial:
        return spike
    found = next((each for each in causes.incidents if _is_it(each, spike)), None)
    root = None if found is None else _root(found.causes)
    if root is None:
        return spike
    return replace(spike, cause=root.name, confidence=root.confidence, woken_by=root.woken_by)


def _is_it(incident: ExplainedIncident, spike: Spike) -> bool:
    if incident.kind != spike.kind:
        return False
    if incident.kind == "stall":
        return incident.end_tsc == spike.tsc and incident.subject == f"CPU {spike.cpu}"
    at_ms = None if incident.begin_unix_ns is None else incident.begin_unix_ns / _NS_PER_MS
    length_ms = incident.length_ns / _NS_PER_MS
    in_time = at_ms is not None and spike.begin_ms - length_ms - 1 <= at_ms <= spike.end_ms + 1
    near = abs(incident.length_ns - spike.length_ns) <= _ROUNDING_NS
    return incident.subject == spike.stream and near and in_time


def _root(causes: Sequence[Cause]) -> Cause | None:
    """The first cause that is not merely a link of the chain."""
    roots = (cause for cause in causes if cause.kind != "tester-stall")
    return next(roots, causes[0] if causes else None)


def _replace(run: RunDirectory, spikes: Iterable[Spike]) -> None:
    """Through files of other names: at every moment spikes.parquet is whole."""
    lines = run.spikes.with_name(".spikes.attributed.jsonl")
    made = run.spikes.with_name(".spikes.attributed.parquet")
    try:
        with lines.open("wb") as file:
            file.writelines(msgspec.json.encode(spike) + b"\n" for spike in spikes)
        made.unlink(missing_ok=True)
        SPIKES.convert(lines, made)
        made.replace(run.spikes)
    except OSError as error:
        raise write_failed(run.spikes, error) from error
