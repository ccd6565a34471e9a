"""The part of a report on what the hosts did during a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.report.data.cpu_lines import CPU_COLUMNS, CpuLine, cpu_lines
from plimsoll.report.data.host_figures import ObservedTrial
from plimsoll.report.data.one_host import OneHost
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.hosts.host_lines import HostLine, host_lines
from plimsoll.report.hosts.loop_lines import loop_lines
from plimsoll.report.hosts.observer_words import observer_words, unread
from plimsoll.trial.criteria.registry import host_criteria_kinds


@dataclass(frozen=True, slots=True)
class HostSection:
    """What is shown of trial `number`; `answers` says what it answers, "" for a page's only one.

    `observers` say who read and where they ran, `unobserved` what was not read and why.
    `verdicts` are the findings by criteria on hosts. Empty tuples where there is nothing to
    show; without `observers` no host was observed.
    """

    answers: str
    number: int
    trial: str
    columns: tuple[str, ...]
    cpus: tuple[CpuLine, ...]
    lines: tuple[HostLine, ...]
    observers: tuple[str, ...]
    unobserved: tuple[tuple[str, str, str], ...]
    verdicts: tuple[FindingRecord, ...]

    @property
    def marked(self) -> int:
        """How many figures should be zero and are not, or cover only a part of the time."""
        return sum(line.mark == "invalid" for line in self.lines)


def host_sections(trials: Sequence[ObservedTrial]) -> tuple[HostSection, ...]:
    """A section for each trial that a page is about. Raises RecordError."""
    return tuple(_section(each) for each in trials)


def _section(each: ObservedTrial) -> HostSection:
    metrics = each.metrics
    hosts = [OneHost(metrics, host) for host in metrics.hosts]
    return HostSection(
        answers=each.answers,
        number=each.trial.number,
        trial=trial_words(each.trial),
        columns=CPU_COLUMNS,
        cpus=tuple(line for host in hosts for line in cpu_lines(host)),
        lines=(
            *loop_lines(each.trial.schedule),
            *(line for host in hosts if host.host.sources for line in host_lines(host)),
        ),
        observers=tuple(observer_words(host, each.trial) for host in metrics.hosts),
        unobserved=tuple(
            (host.hostname, source, why)
            for host in metrics.hosts
            if host.sources
            for source, why in unread(host, each.trial).items()
        ),
        verdicts=tuple(f for f in each.trial.findings if f.is_of(host_criteria_kinds())),
    )
