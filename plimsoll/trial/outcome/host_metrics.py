"""The metrics of the hosts during a trial, queried when a criterion needs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.record.metrics.metrics import query_hosts
from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricType

# Whose CPUs: those of the polling loops of the DUT or the tester or both, the others, or all.
CpuRole = Literal["under-test", "dut", "tester", "housekeeping", "all"]
# A name of series and its values, as in ("type", ("steal",)).
NamedValues = tuple[tuple[str, tuple[str, ...]], ...]

_POLLED_BY: Mapping[str, tuple[str, ...]] = {
    "under-test": ("tester", "dut"),
    "dut": ("dut",),
    "tester": ("tester",),
}


@dataclass(frozen=True, slots=True)
class HostQuestion:
    """Which series of one metric count, and by which names they are kept apart.

    Those count that have one of the values of each name in `where`, and none of those in
    `without`. With `cpus` only series of those CPUs count. They are kept apart by host,
    with `cpus` by CPU, and by the names in `by`; what is not kept apart is drawn together as
    the metric's own aggregation says.
    """

    source: str
    type: str
    where: NamedValues = ()
    without: NamedValues = ()
    cpus: CpuRole | None = None
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostFigure:
    """The values of one host, CPU or group of series over the time in question.

    `names` has `cpu`, where figures are by CPU, and the names queried. `mean` is
    weighted by time, `peak` the highest and `low` the lowest value of any reading; `total` is
    what was counted in readings whose middle lies in that time, None for a metric that is not
    counted. `observed_s` is how much of that time was observed. All but the last are in `unit`,
    or in what it is a rate of.
    """

    hostname: str
    names: Mapping[str, str]
    unit: str
    mean: float
    peak: float
    low: float
    total: int | None
    observed_s: float


def polled_cpus(host: ObservedHostRecord, cpus: CpuRole) -> frozenset[int]:
    """The CPUs of polling loops of a role; all of them for "all" and "housekeeping"."""
    roles = _POLLED_BY.get(cpus, tuple(host.polled))
    lists = [listed for role in roles if (listed := host.polled.get(role))]
    return frozenset(cpu for listed in lists for cpu in parse_cpu_list(listed))


def has_cpus(host: ObservedHostRecord, cpus: CpuRole | None) -> bool:
    """Whether a question about these CPUs is about this host at all."""
    return cpus not in _POLLED_BY or bool(polled_cpus(host, cpus or "all"))


# What mpstat calls num is elsewhere cpu.
_CPU = "coalesce(names['cpu'], names['num'])"
_FIGURES = (files("plimsoll.trial") / "host_figures.sql").read_text(encoding="utf-8")


@dataclass(frozen=True)
class HostMetrics:
    """What was recorded of `hosts` in one period, over [begin_ms, end_ms) since the epoch.

    What a trial is judged by is that of the time in which frames were sent (`during`).
    Nothing is read before it is needed; a period that still grows is read as far as it has.
    """

    run: RunDirectory
    period: str
    hosts: tuple[ObservedHostRecord, ...]
    begin_ms: float = 0.0
    end_ms: float = float("inf")
    _known: dict[HostQuestion, tuple[HostFigure, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def length_s(self) -> float:
        """How long the time in question is."""
        return (self.end_ms - self.begin_ms) / 1e3

    def during(self, begin_unix_ns: int, length_s: float) -> HostMetrics:
        """The same over another time of the period."""
        begin_ms = begin_unix_ns / 1e6
        return replace(self, begin_ms=begin_ms, end_ms=begin_ms + length_s * 1e3, _known={})

    def concerned(self, cpus: CpuRole | None) -> tuple[ObservedHostRecord, ...]:
        """The hosts that a question about these CPUs is about."""
        return tuple(host for host in self.hosts if has_cpus(host, cpus))

    def figures(self, question: HostQuestion) -> tuple[HostFigure, ...]:
        """A figure for each group of series, by host and names; none where nothing was seen.

        Raises RecordError when the record is damaged.
        """
        self.ask([question])
        return self._known[question]

    def ask(self, questions: Sequence[HostQuestion]) -> None:
        """Find the answers to several at once, which costs less. Raises as `figures` does."""
        new = [each for each in dict.fromkeys(questions) if each not in self._known]
        if new:
            found = query_hosts(self.run, self.period, [self._statement(each) for each in new])
            for question, rows in zip(new, found, strict=True):
                self._known[question] = tuple(_figures(question, rows))

    def _statement(self, question: HostQuestion) -> tuple[str, list[object]]:
        """SQL with a `?` for each of the values."""
        apart = _apart(question)
        key = ["names['hostname']", *(_CPU if name == "cpu" else "names[?]" for name in apart)]
        conditions, values = self._conditions(question)
        statement = _FIGURES.format(key=f"[{', '.join(key)}]", conditions="".join(conditions))
        by_name = [name for name in apart if name != "cpu"]
        time = (self.begin_ms, self.end_ms)
        return statement, [*by_name, *time, question.source, question.type, *values]

    def _conditions(self, question: HostQuestion) -> tuple[list[str], list[object]]:
        """SQL with a `?` for each of the values."""
        conditions: list[tuple[str, list[object]]] = []
        for name, included in question.where:
            conditions.append(
                (f" AND list_contains(?, {_name(name)})", [list(included), *_parameters(name)])
            )
        for name, excluded in question.without:
            absent = f" AND NOT coalesce(list_contains(?, {_name(name)}), false)"
            conditions.append((absent, [list(excluded), *_parameters(name)]))
        if question.cpus is not None:
            conditions.append((f" AND {_CPU} IS NOT NULL", []))
        if question.cpus not in (None, "all"):
            negated = "NOT " if question.cpus == "housekeeping" else ""
            chosen = f" AND {negated}list_contains(?, names['hostname'] || ' ' || {_CPU})"
            conditions.append((chosen, [self._polled(question.cpus)]))
        return [each for each, _ in conditions], [
            value for _, values in conditions for value in values
        ]

    def _polled(self, cpus: CpuRole) -> list[str]:
        """Polled CPUs, each after its host's name."""
        return [f"{host.hostname} {cpu}" for host in self.hosts for cpu in polled_cpus(host, cpus)]


def _apart(question: HostQuestion) -> tuple[str, ...]:
    """The names, other than the host's, that figures are grouped by."""
    return (*(("cpu",) if question.cpus else ()), *question.by)


def _figures(question: HostQuestion, rows: Iterable[tuple[Any, ...]]) -> Iterable[HostFigure]:
    for (hostname, *found), *figures in rows:
        pairs = zip(_apart(question), found, strict=True)
        names = {name: value for name, value in pairs if value is not None}
        yield HostFigure(hostname, names, *figures)


def _name(name: str) -> str:
    return _CPU if name == "cpu" else "names[?]"


def _parameters(name: str) -> list[object]:
    return [] if name == "cpu" else [name]


# Which metrics there are of hosts, and which observers tell of them.
def observed_types() -> Mapping[tuple[str, str], MetricType]:
    """All that observers may tell, by source and type."""
    return {(each.source, each.type): each for one in OBSERVERS for each in one.types}


def why_missing(host: ObservedHostRecord, source: str, metric_type: str) -> str | None:
    """Why a metric was not read on a host; None where it was."""
    key = (source, metric_type)
    tellers = [one for one in OBSERVERS if key in {(t.source, t.type) for t in one.types}]
    reasons = [host.missing[one.name()] for one in tellers if one.name() in host.missing]
    if tellers and len(reasons) == len(tellers):
        return "; ".join(reasons)
    return None if source in host.sources else "it is not listed in observe.sources"
