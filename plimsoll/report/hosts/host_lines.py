"""What each host did while frames were sent: figures, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from plimsoll.report.data.one_host import OneHost, most_frequent, percent, rate
from plimsoll.trial.criteria.hosts.host_bound import MIN_OBSERVED
from plimsoll.trial.outcome.host_metrics import HostFigure

# These sources have values for all the time that a host is read.
_ALWAYS_SHOWN = frozenset({"mpstat", "sar-tasks", "sar-mem"})
_PER_S = "per second"
_DROPS = ("rx-missed-sec", "rx-nombuf-sec", "rx-errors-sec", "tx-errors-sec")


@dataclass(frozen=True, slots=True)
class HostLine:
    """One figure, where it was measured, and a sentence; `mark` is "ok", "invalid" or none.

    `figure` is `value` in `unit` for people, with what belongs to it.
    """

    what: str
    value: float
    unit: str
    figure: str
    where: str
    meaning: str
    mark: str = ""


def host_lines(host: OneHost) -> tuple[HostLine, ...]:
    """All figures of a host that were observed."""
    return tuple(line for find in _FINDERS for line in find(host))


def _unseen(host: OneHost) -> Iterable[HostLine]:
    figures = (
        *host.figures("mpstat", "NonBusy-CPU", cpus="all"),
        *host.figures("sar-tasks", "Context-switches-sec"),
        *host.figures("sar-mem", "Page-major-faults-sec"),
    )
    seen_s = max((each.observed_s for each in figures), default=0.0)
    length_s = host.metrics.length_s
    # An observer that reads none of these is not known to have missed anything.
    if _ALWAYS_SHOWN.isdisjoint(host.host.sources) or seen_s >= MIN_OBSERVED * length_s:
        return
    said = "The host was read for that long only: nothing here covers the rest."
    text = f"{seen_s:.3g} s of {length_s:.4g} s"
    yield HostLine("Observed", seen_s, "s", text, host.host.hostname, said, "invalid")


def _steal(host: OneHost) -> Iterable[HostLine]:
    busy = host.figures("mpstat", "Busy-CPU", cpus="under-test", by=("type",))
    stolen = [each for each in busy if each.names["type"] == "steal"]
    if not stolen:
        return
    worst = max(stolen, key=lambda each: each.mean)
    said = "No hypervisor took time from a CPU under test."
    if worst.mean:
        said = "A hypervisor ran something else while a polling loop was due."
    place = f"{worst.hostname} CPU {worst.names['cpu']}" if worst.mean else worst.hostname
    yield _alarm(
        HostLine("Time stolen, worst CPU", worst.mean, "ratio", percent(worst.mean), place, said)
    )


def _interrupts(host: OneHost) -> Iterable[HostLine]:
    return _by_cpu(host, "Interrupts", "interrupts-sec", ("irq", "desc"))


def _softirqs(host: OneHost) -> Iterable[HostLine]:
    return _by_cpu(host, "Softirqs", "softirqs-sec", ("type",))


def _by_cpu(host: OneHost, what: str, kind: str, by: tuple[str, ...]) -> Iterable[HostLine]:
    cpus: dict[int, list[HostFigure]] = {}
    for each in host.figures("procstat", kind, cpus="under-test", by=by):
        cpus.setdefault(int(each.names["cpu"]), []).append(each)
    for cpu, kinds in sorted(cpus.items()):
        total = sum(each.mean for each in kinds)
        said = f"Most of them: {most_frequent(kinds, by)}." if any(e.mean for e in kinds) else ""
        place = f"{host.host.hostname} CPU {cpu}"
        yield HostLine(what, total, _PER_S, f"{rate(total)} a second", place, said)


def _switches(host: OneHost) -> Iterable[HostLine]:
    figure = host.figure("sar-tasks", "Context-switches-sec")
    if figure:
        said = "On the whole host: a polling loop that is left alone adds none."
        text = f"{rate(figure.mean)} a second"
        yield HostLine("Context switches", figure.mean, _PER_S, text, figure.hostname, said)


def _run_queue(host: OneHost) -> Iterable[HostLine]:
    queue = host.figure("sar-scheduler", "Run-Queue-Length")
    if not queue:
        return
    cpus = len(host.figures("mpstat", "NonBusy-CPU", cpus="all"))
    figure = f"{rate(queue.mean)}, at most {queue.peak:,.0f}" + (f"; {cpus} CPUs" if cpus else "")
    said = "Tasks that ran or waited to. Polling loops are among them."
    if cpus and queue.mean > cpus:
        said = "More tasks were runnable than there are CPUs: some waited."
    yield HostLine("Run queue", queue.mean, "tasks", figure, queue.hostname, said)


def _paging(host: OneHost) -> Iterable[HostLine]:
    for way, what in (("in", "KB-Paged-in-sec"), ("out", "KB-Paged-out-sec")):
        figure = host.figure("sar-mem", what)
        if figure:
            said = "Read from disks." if way == "in" else "Written to disks, the run's record too."
            text = f"{rate(figure.mean)} KiB/s"
            yield HostLine(f"Paged {way}", figure.mean, "KiB/s", text, figure.hostname, said)


def _major_faults(host: OneHost) -> Iterable[HostLine]:
    return _counted(
        host,
        ("sar-mem", "Page-major-faults-sec"),
        "Major page faults",
        none="No process waited for memory to be read from a disk.",
        some="So often a process waited for memory to be read from a disk.",
    )


def _hugepages(host: OneHost) -> Iterable[HostLine]:
    totals = host.figures("sar-mem", "Hugepages-Total", by=("size",))
    free = {
        each.names["size"]: each.mean
        for each in host.figures("sar-mem", "Hugepages-Free", by=("size",))
    }
    for each in totals:
        size = each.names["size"]
        if each.mean and size in free:
            used = each.mean - free[size]
            text = f"{used:,.0f} of {each.mean:,.0f}"
            said = "In use, by any process: memory that cannot be paged out."
            yield HostLine(f"Hugepages of {size}", used, "pages", text, each.hostname, said)


def _throttled(host: OneHost) -> Iterable[HostLine]:
    for each in host.figures("cgroup", "cpu-throttled-periods-sec", by=("cgroup", "process")):
        said = "No quota withheld CPU time from it."
        if each.total:
            said = (
                "The number of periods in which its quota was used up and its processes had to "
                "wait."
            )
        place = f"{each.hostname} {each.names['cgroup']}"
        what = f"Throttled periods of {each.names['process'].replace(' ', ', ')}"
        total = each.total or 0
        yield _alarm(HostLine(what, total, "periods", f"{total:,}", place, said))


def _frequency(host: OneHost) -> Iterable[HostLine]:
    found = host.figures("cpufreq", "MHz", cpus="under-test")
    if found:
        least, most = min(e.mean for e in found), max(e.mean for e in found)
        text = f"{least:,.0f} MHz" if most - least < 1 else f"{least:,.0f} to {most:,.0f} MHz"
        said = "Means of the CPUs under test whose frequency can be read without disturbing them."
        yield HostLine("Frequency", least, "MHz", text, host.host.hostname, said)


def _heat(host: OneHost) -> Iterable[HostLine]:
    return _counted(
        host,
        ("thermal", "throttle-events-sec"),
        "Thermal throttling",
        none="No CPU was slowed down for being too hot.",
        some="So often a CPU was slowed down for being too hot.",
    )


def _smis(host: OneHost) -> Iterable[HostLine]:
    return _counted(
        host,
        ("smi", "smis-sec"),
        "System management interrupts",
        none="The firmware never stopped the CPUs.",
        some="So often the firmware stopped all CPUs, unseen by the kernel.",
    )


def _dut_drops(host: OneHost) -> Iterable[HostLine]:
    dropped: dict[str, int] = {}
    for kind in _DROPS:
        for each in host.figures("dpdk", kind, by=("app",)):
            app = each.names.get("app", "DPDK")
            dropped[app] = dropped.get(app, 0) + (each.total or 0)
    for app, frames in dropped.items():
        said = "It dropped nothing at its ports, by its own telemetry."
        if frames:
            said = "Missed, without a buffer, or in error at its ports, by its own telemetry."
        place = f"{host.host.hostname} {app}"
        what = "Frames dropped at the DUT's ports"
        yield _alarm(HostLine(what, frames, "frames", f"{frames:,}", place, said))


_FINDERS: tuple[Callable[[OneHost], Iterable[HostLine]], ...] = (
    _unseen,
    _steal,
    _interrupts,
    _softirqs,
    _throttled,
    _major_faults,
    _paging,
    _run_queue,
    _switches,
    _frequency,
    _heat,
    _smis,
    _hugepages,
    _dut_drops,
)


def _counted(
    host: OneHost, metric: tuple[str, str], what: str, *, none: str, some: str
) -> Iterable[HostLine]:
    """How often it happened on the host; nothing where that was not observed."""
    count = host.total(*metric)
    if count is not None:
        said = some if count else none
        yield _alarm(HostLine(what, count, "events", f"{count:,}", host.host.hostname, said))


def _alarm(line: HostLine) -> HostLine:
    """Of something that should not be at all."""
    return replace(line, mark="invalid" if line.value else "ok")
