"""The part of a report on what the hosts did during a trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_parts import HostReadings, PollingThreadRecord, ScheduleRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.one_host import (
    ObservedTrial,
    OneHost,
    cpu_table,
    percent,
)
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.table import Cell, ReportColumn, ReportTable, filed, sentence, text
from plimsoll.report.hosts.host_lines import HostLine, host_lines
from plimsoll.text.plain_text import slug
from plimsoll.trial.criteria.registry import host_criteria_kinds

# A loop that waits for less of the time is as good as alone.
_WAITED = 0.002
_MAX_NAMED = 3
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class HostSection:
    """What is shown of trial `number`; `answers` says what it answers, "" for a page's only one.

    `observers` say who read and where they ran, `unobserved` what was not read and why.
    `verdicts` are the findings by criteria on hosts. Empty tuples where there is nothing to
    show; without `observers` no host was observed. `marked` figures should be zero and are not, or
    cover only a part of the time; they are among `figures`, too.
    """

    answers: str
    number: int
    trial: str
    cpus: ReportTable
    figures: ReportTable
    marked: ReportTable
    observers: tuple[str, ...]
    unobserved: ReportTable
    verdicts: tuple[FindingRecord, ...]


def host_sections(trials: Sequence[ObservedTrial]) -> tuple[HostSection, ...]:
    """A section for each trial that a page is about. Raises RecordError."""
    return tuple(_section(each) for each in trials)


def _section(each: ObservedTrial) -> HostSection:
    metrics = each.metrics
    hosts = [OneHost(metrics, host) for host in metrics.hosts]
    lines = (
        *loop_lines(each.trial.schedule),
        *(line for host in hosts if host.host.sources for line in host_lines(host)),
    )
    name = slug(f"hosts {each.answers}")
    return HostSection(
        answers=each.answers,
        number=each.trial.number,
        trial=trial_words(each.trial),
        cpus=cpu_table(hosts, f"{name}-cpus"),
        figures=_figures(lines, f"{name}-figures"),
        marked=_figures([e for e in lines if e.mark == "invalid"], f"{name}-figures-to-look-at"),
        observers=tuple(observer_words(host, each.trial) for host in metrics.hosts),
        unobserved=_unobserved(metrics.hosts, each.trial, f"{name}-unobserved"),
        verdicts=tuple(f for f in each.trial.findings if f.is_of(host_criteria_kinds())),
    )


def _figures(lines: Sequence[HostLine], name: str) -> ReportTable:
    columns = (
        sentence("what", "What"),
        ReportColumn(("figure",), "Figure"),
        filed("unit"),
        sentence("where", "Where"),
        sentence("meaning", "What it means"),
    )
    rows = tuple(
        (
            line.what,
            Cell((line.value,), line.figure, line.mark),
            line.unit,
            line.where,
            line.meaning,
        )
        for line in lines
    )
    return ReportTable(name, columns, rows, "Figures of the hosts")


def _unobserved(hosts: Sequence[ObservedHostRecord], trial: TrialRecord, name: str) -> ReportTable:
    columns = (text("host", "Host"), text("source", "Source"), sentence("reason", "Why"))
    rows = tuple(
        (host.hostname, source, why)
        for host in hosts
        if host.sources
        for source, why in unread(host, trial).items()
    )
    return ReportTable(name, columns, rows, "What could not be observed, and why")


# What each polling loop had of its CPU, which the CPU's own states do not show.
#
# To the kernel, time of the loop and time of another program on its CPU are both user time. Only
# the loop's own thread distinguishes them (Documentation/scheduler/sched-stats.rst, proc(5)).
def loop_lines(schedule: ScheduleRecord | None) -> tuple[HostLine, ...]:
    """A line for each loop on this host, by CPU; none where the kernel counts nothing."""
    if schedule is None or schedule.watched_s <= 0:
        return ()
    threads = sorted(schedule.threads, key=lambda thread: thread.cpu)
    return tuple(_line(thread, schedule) for thread in threads)


def _line(thread: PollingThreadRecord, schedule: ScheduleRecord) -> HostLine:
    watched_ns = schedule.watched_s * _NS_PER_S
    waited = thread.wait_ns / watched_ns
    figure = (
        f"ran {percent(min(1.0, thread.run_ns / watched_ns))}, waited {percent(waited)}, "
        f"taken off {thread.involuntary_switches:,} times"
    )
    where = f"{thread.process} (pid {thread.pid}) CPU {thread.cpu}"
    mark = "invalid" if waited > _WAITED else "ok"
    return HostLine(
        "Polling loop", waited, "ratio", figure, where, _meaning(thread, schedule, waited), mark
    )


def _meaning(thread: PollingThreadRecord, schedule: ScheduleRecord, waited: float) -> str:
    if waited <= _WAITED:
        return "It had its CPU for itself: the user time of that CPU is its own."
    others = tuple(_named(thread.cpu, schedule))
    said = "It was ready to run while something else had its CPU, whose user time is in the table"
    return f"{said} too: {', '.join(others)}." if others else f"{said} too."


def _named(cpu: int, schedule: ScheduleRecord) -> Iterable[str]:
    on_cpu = [f"{each.comm} ({each.pid})" for each in schedule.others if each.cpu == cpu]
    return on_cpu[:_MAX_NAMED]


# Who read a host during a trial: how often, at what cost, and until when.
def observer_words(host: ObservedHostRecord, trial: TrialRecord) -> str:
    """In sentences. Records from before observers were recorded have the first alone."""
    if not host.sources:
        reasons = "; ".join(dict.fromkeys(host.missing.values()))
        return f"{host.hostname} was not observed: {reasons}."
    said = (
        f"{host.hostname} was read every {host.interval_s:g} s by a process on CPU "
        f"{host.ran_on}: {', '.join(host.sources)}."
    )
    return " ".join((said, *_of_trial(_readings(host, trial))))


def unread(host: ObservedHostRecord, trial: TrialRecord) -> dict[str, str]:
    """By observer why it did not read, or not until the trial ended."""
    readings = _readings(host, trial)
    return {**host.missing, **(readings.lost if readings else {})}


def _readings(host: ObservedHostRecord, trial: TrialRecord) -> HostReadings | None:
    return next((each for each in trial.hosts if each.hostname == host.hostname), None)


def _of_trial(readings: HostReadings | None) -> Iterator[str]:
    if readings is None:
        return
    if readings.ended is not None:
        when = readings.ended.period or "before the first trial"
        yield f"Its figures end in {when}: {readings.ended.why}."
        return
    count = readings.readings
    said = "there was one reading" if count == 1 else f"there were {count or 0:,} readings"
    yield f"In this trial {said}, which took {readings.cpu_s or 0:.3g} s of CPU time."
    if readings.skipped:
        yield f"{readings.skipped:,} more were due while the process got no CPU."
