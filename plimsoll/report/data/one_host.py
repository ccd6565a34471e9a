"""What was recorded of one observed host during a trial: its metrics, and its CPUs' time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.query import ask
from plimsoll.record.query.breakout import Breakout
from plimsoll.record.query.metric_query import MetricQuery
from plimsoll.record.run.environment import Environment, ObservedHostRecord, load_environment
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.figures.table import Cell, Cells, ReportColumn, ReportTable, number, text
from plimsoll.trial.outcome.host_metrics import (
    CpuRole,
    HostFigure,
    HostMetrics,
    HostQuestion,
    polled_cpus,
)

# Of the kinds of something, those that are named.
_MAX_KINDS = 3


@dataclass(frozen=True, slots=True)
class OneHost:
    """One host over the time in which frames were sent. Reading it raises RecordError."""

    metrics: HostMetrics
    host: ObservedHostRecord

    def figures(
        self, source: str, kind: str, *, cpus: CpuRole | None = None, by: tuple[str, ...] = ()
    ) -> tuple[HostFigure, ...]:
        """A metric's figures, kept apart by CPU where `cpus` are requested, and by names."""
        question = HostQuestion(source, kind, cpus=cpus, by=by)
        found = self.metrics.figures(question)
        return tuple(each for each in found if each.hostname == self.host.hostname)

    def figure(self, source: str, kind: str) -> HostFigure | None:
        """The one of the whole host; None where it was not observed."""
        return next(iter(self.figures(source, kind)), None)

    def total(self, source: str, kind: str) -> int | None:
        """What was counted on the whole host; None where it was not observed."""
        figure = self.figure(source, kind)
        return figure.total if figure else None


def most_frequent(figures: Sequence[HostFigure], names: tuple[str, ...]) -> str:
    """The kinds that were most of it, with their rates a second: "LOC 100, 31 nic 0.5"."""
    largest = sorted(figures, key=lambda each: -each.mean)[:_MAX_KINDS]
    return ", ".join(f"{_kind(each, names)} {rate(each.mean)}" for each in largest if each.mean > 0)


def rate(value: float) -> str:
    """A rate or a mean, to three digits where it is small."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share of the whole: "99.4 %"."""
    # Three digits would round 99.96 % up to the whole, which it is not.
    return f"{share * 100:.2f} %" if 0.99 < share < 1 else f"{share * 100:.3g} %"


def _kind(figure: HostFigure, names: tuple[str, ...]) -> str:
    return " ".join(figure.names[name] for name in names if name in figure.names)


_OWNERS: Mapping[CpuRole, str] = {"tester": "tester", "dut": "DUT"}


def role_of(host: ObservedHostRecord) -> str:
    """Whose polling loops ran on it: "tester", "DUT", "tester and DUT"; "" where none did."""
    return _joined(host, frozenset().union(*(polled_cpus(host, role) for role in _OWNERS)))


def owner_of(host: ObservedHostRecord, cpu: int) -> str:
    """The same, of one of its CPUs."""
    return _joined(host, frozenset({cpu}))


def _joined(host: ObservedHostRecord, cpus: frozenset[int]) -> str:
    return " and ".join(name for role, name in _OWNERS.items() if cpus & polled_cpus(host, role))


# What mpstat's states are added up to, and their names in the table.
_STATES = {
    # Guests' time is user time to the kernel too (proc(5)).
    "user": ("usr", "nice", "guest", "gnice"),
    "system": ("sys",),
    "interrupts": ("irq",),
    "softirqs": ("soft",),
    "stolen": ("steal",),
    "idle": ("idle", "iowait"),
}
# One CPU in one window: None where nothing was observed.
CpuWindows = tuple[float | None, ...]


def cpu_table(hosts: Iterable[OneHost], name: str) -> ReportTable:
    """The CPUs under test, ascending: of what their time went into, as shares."""
    columns = (
        ReportColumn(
            ("host", "cpu"), "CPU under test", lambda host, cpu: f"{host} CPU {cpu}", number=False
        ),
        text("polled_by", "Polled by"),
        *(number(f"{state}_share", state.capitalize(), percent) for state in _STATES),
    )
    rows: tuple[Cells, ...] = tuple(
        (Cell((of.host.hostname, cpu)), owner_of(of.host, cpu), *shares.values())
        for of in hosts
        for cpu, shares in sorted(cpu_shares(of).items())
    )
    return ReportTable(name, columns, rows, "Time of the CPUs under test")


def cpu_shares(host: OneHost) -> dict[int, dict[str, float]]:
    """By CPU under test, the share of its time that went into each of _STATES."""
    by_state: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for kind in ("Busy-CPU", "NonBusy-CPU"):
        for figure in host.figures("mpstat", kind, cpus="under-test", by=("type",)):
            by_state[int(figure.names["cpu"])][figure.names["type"]] = figure.mean
    return {
        cpu: {name: sum(states.get(each, 0.0) for each in of) for name, of in _STATES.items()}
        for cpu, states in by_state.items()
    }


# A metric of each CPU over the trial, in equally long windows.
def cpu_windows(
    metrics: HostMetrics, source: str, kind: str, cpus: CpuRole, most_points: int
) -> Iterable[tuple[str, CpuWindows]]:
    """By "host CPU n" the greatest value in each window; raises RecordError.

    There are as many windows as readings, or as `most_points` leaves for each CPU. mpstat
    numbers its CPUs `num`, other sources `cpu`.
    """
    name = "num" if source == "mpstat" else "cpu"
    found: dict[str, list[str]] = {}
    for figure in metrics.figures(HostQuestion(source, kind, cpus=cpus)):
        found.setdefault(figure.hostname, []).append(figure.names["cpu"])
    for host in metrics.hosts:
        if host.hostname in found:
            most = most_points // sum(map(len, found.values()))
            query = MetricQuery(
                source,
                kind,
                period=metrics.period,
                begin=round(metrics.begin_ms),
                end=round(metrics.end_ms),
                resolution=max(1, min(math.floor(metrics.length_s / host.interval_s), most)),
                breakouts=(
                    Breakout("hostname", "values", (host.hostname,)),
                    Breakout(name, "values", tuple(found[host.hostname])),
                ),
                over_time="max",
            )
            for row in ask(metrics.run, query).rows:
                yield f"{row.names[0]} CPU {row.names[1]}", row.values


@dataclass(frozen=True, slots=True)
class ObservedTrial:
    """`metrics` are of the hosts while `trial` sent its frames.

    `answers` says what the trial answers where a page has several: "64 B".
    """

    trial: TrialRecord
    metrics: HostMetrics
    answers: str = ""


def observed_trials(
    run: RunDirectory, trials: Mapping[str, TrialRecord]
) -> tuple[ObservedTrial, ...]:
    """Trials of a run by what they answer. Raises RecordError."""
    environment = load_environment(run.environment)
    return tuple(
        ObservedTrial(trial, observed_host_figures(run, environment, trial), answers)
        for answers, trial in trials.items()
    )


def only_trial(trial: TrialRecord | None, metrics: HostMetrics | None) -> tuple[ObservedTrial, ...]:
    """The one trial of a page about no other; none before there is any."""
    return () if trial is None or metrics is None else (ObservedTrial(trial, metrics),)


def observed_host_figures(
    run: RunDirectory, environment: Environment | None, trial: TrialRecord
) -> HostMetrics:
    """The metrics of the hosts while a trial sent its frames; of no host in older runs."""
    observed = environment.observed if environment else ()
    metrics = HostMetrics(run, trial_period(trial.number), observed)
    return metrics.during(trial.begin_unix_ns, trial.sending_s)


def longest_trial(trials: Sequence[TrialRecord], phase: TrialPhase) -> TrialRecord | None:
    """Of a phase that is resumed as a further trial, the one that covers most time."""
    of_phase = [trial for trial in trials if trial.phase == phase]
    return max(of_phase, key=lambda trial: trial.sending_s, default=None)
