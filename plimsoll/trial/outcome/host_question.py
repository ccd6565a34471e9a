"""What can be queried of the metrics of the hosts that were observed during a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.record.run.observed_host import ObservedHostRecord

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
