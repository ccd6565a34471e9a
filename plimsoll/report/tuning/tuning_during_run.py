"""What happened on the CPUs under test during a trial, joined to what the audit had found.

A setting says what may happen; counters say what did. Each happening belongs to one check or
more, and the two verdicts become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.record.run.audit_record import AuditFinding, AuditRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.outcome.host_metrics import HostFigure, HostMetrics, HostQuestion
from plimsoll.tune.audit.finding import VERDICTS, CheckVerdict
from plimsoll.tune.host.cpus.irqs import TICKS, is_of_each_cpu
from plimsoll.tune.host.cpus.processor import is_deep

# The residual tick of a tickless CPU is one a second (kernel/sched/core.c, sched_tick_remote
# runs elsewhere since 4.17); ten are still no tick of 100 Hz.
_TICKLESS = 10.0
# By how much the frequencies of CPUs, or of one CPU over time, may differ: 1 %.
_STEADY = 0.01
# As check 47 has them.
_QUIET_NS, _LOUD_NS = 20e3, 1e6
_MAX_KINDS = 5
# What is harmless by itself: a tick, an idle state or a frequency that no setting excludes.
_BY_INTENT = frozenset({3, 13, 15})


@dataclass(frozen=True, slots=True)
class Happening:
    """What counters say about the check `number`; `text` has the figures."""

    number: int
    verdict: CheckVerdict
    text: str


@dataclass(frozen=True, slots=True)
class JointFinding:
    """A check's finding, what happened (None: not known), and the verdict of both."""

    static: AuditFinding
    happened: Happening | None
    verdict: CheckVerdict


def joined(
    audit: AuditRecord, metrics: HostMetrics | None, trial: TrialRecord | None
) -> tuple[JointFinding, ...]:
    """Every finding with what happened in `trial`, the worst joint verdict first.

    Of the hosts observed only the audited one counts, and the tester's own loops count on the
    tester's. Nothing is found of a host that was not audited. Raises RecordError for metrics
    that are damaged.
    """
    found = {each.number: each for each in happenings(audit, metrics, trial)}
    lines = [
        JointFinding(static, found.get(static.number), joint(static, found.get(static.number)))
        for static in audit.findings
    ]
    return tuple(sorted(lines, key=lambda line: (VERDICTS.index(line.verdict), line.static.number)))


def joint(static: AuditFinding, happened: Happening | None) -> CheckVerdict:
    """One verdict of two: what happened counts more than what a setting lets happen.

    A wrong setting that did no harm in this trial may do it in the next: a warning. Harm
    fails whatever the setting says, except where it is harm only if the intent requires it.
    """
    if happened is None or (static.verdict == "not-applicable" and static.number in _BY_INTENT):
        return static.verdict
    if happened.verdict == "ok":
        return "warn" if static.verdict in ("fail", "warn") else "ok"
    if static.verdict in ("unknown", "not-applicable"):
        return happened.verdict
    return min(static.verdict, happened.verdict, key=VERDICTS.index)


def happenings(
    audit: AuditRecord, metrics: HostMetrics | None, trial: TrialRecord | None
) -> Iterable[Happening]:
    """All that the counters of the audited host show, and on the tester its own loops."""
    if trial is not None and audit.role == "tester":
        yield from _stalls(trial)
    if metrics is None:
        return
    host = _HostDuringRun(metrics, audit.host, audit.under_test)
    for find in _FINDERS:
        yield from find(host)


@dataclass(frozen=True, slots=True)
class _HostDuringRun:
    """The metrics of the one host that was audited; `under_test` are its CPUs in question.

    Audits of before they were recorded have None: then they are those that were observed as
    such.
    """

    metrics: HostMetrics
    hostname: str | None
    under_test: str | None

    def figures(
        self, source: str, kind: str, by: tuple[str, ...] = (), *, tested: bool = True
    ) -> list[HostFigure]:
        """By CPU under test where `tested`, and by names; none where these are unknown."""
        if tested and self.under_test == "":
            return []
        question = HostQuestion(source, kind, by=by)
        found = self.metrics.figures(self._of_tested(question) if tested else question)
        return [each for each in found if each.hostname == self.hostname]

    def _of_tested(self, question: HostQuestion) -> HostQuestion:
        if self.under_test is None:
            return replace(question, cpus="under-test")
        cpus = tuple(str(cpu) for cpu in sorted(parse_cpu_list(self.under_test)))
        return replace(question, cpus="all", where=(("cpu", cpus),))


def _interrupts(host: _HostDuringRun) -> Iterable[Happening]:
    """34 of all kinds; 3 and 33 of the kinds that these settings are about."""
    figures = host.figures("procstat", "interrupts-sec", ("irq", "desc"))
    if not figures:
        return
    softirqs = host.figures("procstat", "softirqs-sec", ("type",))
    device = _by_kind((each for each in figures if _is_device(each)), _device_name)
    own = _by_kind((each for each in figures if not _is_device(each)), _own_name)
    tick = max((own.get(name, 0.0) for name in TICKS), default=0.0)
    yield Happening(33, *_devices(device))
    yield Happening(
        3,
        "ok" if tick <= _TICKLESS else "fail",
        f"the local timer interrupted the worst CPU {_rate(tick)} times a second",
    )
    kinds = own | {"device": _worst_of_devices(figures)}
    text = f"a second, each kind on its worst CPU: {_largest(kinds) or 'no interrupts'}"
    if soft := _largest(_by_kind(softirqs, _softirq_name)):
        text += f"; softirqs {soft}"
    quiet = not device and all(rate <= _TICKLESS for rate in own.values())
    yield Happening(34, "ok" if quiet else "warn" if not device else "fail", text)


def _worst_of_devices(figures: Iterable[HostFigure]) -> float:
    """The rate of all devices together on the CPU that has most of it."""
    rates: dict[str, float] = {}
    for each in figures:
        if _is_device(each):
            rates[each.names["cpu"]] = rates.get(each.names["cpu"], 0.0) + each.mean
    return max(rates.values(), default=0.0)


def _devices(device: Mapping[str, float]) -> tuple[CheckVerdict, str]:
    if not device:
        return "ok", "no device interrupted a CPU under test"
    return "fail", f"devices interrupted CPUs under test, a second: {_largest(device)}"


def _deep_idle(host: _HostDuringRun) -> Iterable[Happening]:
    entries = host.figures("cpuidle", "entries-sec", ("state",))
    if not entries:
        return
    deep = [each for each in entries if is_deep(each.names["state"])]
    times = sum(each.total or 0 for each in deep)
    names = ", ".join(sorted({each.names["state"] for each in deep if each.total}))
    if times:
        yield Happening(13, "fail", f"CPUs under test entered {names} {times:,} times")
    else:
        yield Happening(13, "ok", "no CPU under test entered a state deeper than C1")


def _throttling(host: _HostDuringRun) -> Iterable[Happening]:
    found = host.figures("cgroup", "cpu-throttled-periods-sec", ("cgroup",), tested=False)
    if not found:
        return
    periods = sum(each.total or 0 for each in found)
    if periods:
        groups = ", ".join(sorted({each.names["cgroup"] for each in found if each.total}))
        yield Happening(43, "fail", f"a quota stopped {groups} in {periods:,} periods")
    else:
        yield Happening(43, "ok", "no quota stopped a process under test")


def _smis(host: _HostDuringRun) -> Iterable[Happening]:
    found = host.figures("smi", "smis-sec", tested=False)
    if not found:
        return
    count = max(each.total or 0 for each in found)
    text = f"SMIs that stopped the CPUs: {count:,}" if count else "no SMI stopped the CPUs"
    yield Happening(16, "fail" if count else "ok", text)


def _frequencies(host: _HostDuringRun) -> Iterable[Happening]:
    """A mean below the peak says that a CPU was slower at times."""
    found = host.figures("cpufreq", "MHz")
    if not found:
        return
    least, most = min(each.mean for each in found), max(each.peak for each in found)
    text = f"CPUs under test ran at {least:,.0f} to {most:,.0f} MHz"
    yield Happening(15, "ok" if least >= most * (1 - _STEADY) else "warn", text)


def _stalls(trial: TrialRecord) -> Iterable[Happening]:
    if not trial.workers:
        return
    worst_ns = max(worker.worst_stall_ns for worker in trial.workers)
    count = sum(worker.stalls for worker in trial.workers)
    verdict: CheckVerdict = (
        "ok" if worst_ns <= _QUIET_NS else "warn" if worst_ns < _LOUD_NS else "fail"
    )
    if not count:
        yield Happening(47, "ok", "the tester's polling loops never stalled")
        return
    longest = f"{worst_ns / 1e6:.3g} ms" if worst_ns >= 1e6 else f"{worst_ns / 1e3:.3g} us"
    text = f"the tester's polling loops stalled {count:,} times, for {longest} at worst"
    yield Happening(47, verdict, text)


_FINDERS: tuple[Callable[[_HostDuringRun], Iterable[Happening]], ...] = (
    _interrupts,
    _deep_idle,
    _throttling,
    _smis,
    _frequencies,
)


def _is_device(figure: HostFigure) -> bool:
    """A name stands for the kernel's own; so does a number that each CPU has for itself."""
    numbered = figure.names.get("irq", "").isdigit()
    return numbered and not is_of_each_cpu(figure.names.get("desc", ""))


def _own_name(figure: HostFigure) -> str:
    """The kernel's name, or the handler's where a number stands in its place."""
    irq = figure.names["irq"]
    return figure.names["desc"] if irq.isdigit() else irq


def _device_name(figure: HostFigure) -> str:
    return " ".join(figure.names[name] for name in ("irq", "desc") if name in figure.names)


def _softirq_name(figure: HostFigure) -> str:
    return figure.names["type"]


def _by_kind(figures: Iterable[HostFigure], kind: Callable[[HostFigure], str]) -> dict[str, float]:
    """The rate of each kind on the CPU that has most of it; none of kinds that never came."""
    worst: dict[str, float] = {}
    for each in figures:
        if each.total:
            worst[kind(each)] = max(worst.get(kind(each), 0.0), each.mean)
    return worst


def _largest(kinds: Mapping[str, float]) -> str:
    """ "LOC 250, RES 12, 31 eth0-rx 0.5"."""
    ranked = sorted(kinds.items(), key=lambda each: -each[1])[:_MAX_KINDS]
    return ", ".join(f"{kind} {_rate(rate)}" for kind, rate in ranked if rate)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
