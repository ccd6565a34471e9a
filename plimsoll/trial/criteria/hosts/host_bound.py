"""A bound on one metric of a host, and how a host is held to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.record.run.environment import ObservedHostRecord
from plimsoll.record.trials.finding_record import FindingOutcome
from plimsoll.text.units import format_number, format_ratio
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.host_metrics import (
    CpuRole,
    HostFigure,
    HostMetrics,
    HostQuestion,
    polled_cpus,
    why_missing,
)

Breach = Literal["invalid", "fail"]
Statistic = Literal["mean", "max", "min", "total"]
# What a broken bound makes of the trial.
Blame = Callable[[ObservedHostRecord, HostFigure], Breach]

# This share of the time in question must have been observed: the rest may hide anything.
# What is missing allows for a last reading that came late.
MIN_OBSERVED = 0.9
# How groups of series are called, by the name that keeps them apart.
_NAMED = {"cpu": "CPU {}", "cgroup": "cgroup {}", "process": "({})"}
_POLLERS: Mapping[CpuRole | None, str] = {
    "under-test": "the tester or the DUT",
    "dut": "the DUT",
    "tester": "the tester",
}


@dataclass(frozen=True, slots=True)
class HostBound:
    """At most `limit`, or at least that where it is the `least` that is needed.

    `words` tell what was found, with `{}` for the value; `unit` is "ratio" for a share of
    the whole. A broken bound names what made up most of it, by the names in `parts`.
    Of a host's CPUs, or other groups of series, the worst is judged, or `each`; where a
    breach is not the same fault for all, the worst of each.
    """

    rule: str
    question: HostQuestion
    limit: float
    unit: str
    words: str = "{}"
    statistic: Statistic = "mean"
    least: bool = False
    parts: tuple[str, ...] = ()
    each: bool = False

    def findings(self, metrics: HostMetrics | None, blame: Blame) -> list[Finding]:
        """Of each host that is concerned; `blame` attributes a broken bound.

        Invalid where the metric was not observed, or not for most of the time.
        """
        if metrics is None or not metrics.hosts:
            said = f"no host was observed, so nothing is known of its {self._metric}"
            return [self._unknown("trial", said, "set observe.enabled: true")]
        concerned = metrics.concerned(self.question.cpus)
        if not concerned:
            said = f"no observed host has CPUs that are polled by {_POLLERS[self.question.cpus]}"
            return [self._unknown("trial", said, "name them as polled_cpus in observe.hosts")]
        return [finding for host in concerned for finding in self._of_host(host, metrics, blame)]

    def _of_host(
        self, host: ObservedHostRecord, metrics: HostMetrics, blame: Blame
    ) -> list[Finding]:
        everywhere = metrics.figures(self.question)
        figures = [each for each in everywhere if each.hostname == host.hostname]
        if gap := self._gap(host, figures, metrics.length_s):
            return [self._unknown(host.hostname, *gap)]
        judged = figures if self.each else self._worst(host, figures, blame)
        return [self._judge(host, figure, metrics, blame) for figure in judged]

    def _worst(
        self, host: ObservedHostRecord, figures: Sequence[HostFigure], blame: Blame
    ) -> list[HostFigure]:
        """One of each kind of breach: the DUT's worst must not hide what the tester did."""
        by_breach: dict[Breach, list[HostFigure]] = {}
        for figure in figures:
            by_breach.setdefault(blame(host, figure), []).append(figure)
        worst = min if self.least else max
        return [worst(those, key=self._value) for those in by_breach.values()]

    def _judge(
        self, host: ObservedHostRecord, figure: HostFigure, metrics: HostMetrics, blame: Blame
    ) -> Finding:
        value = self._value(figure)
        if value >= self.limit if self.least else value <= self.limit:
            return self._finding(figure, value, "ok")
        return self._finding(figure, value, blame(host, figure), self._made_of(figure, metrics))

    def _gap(
        self, host: ObservedHostRecord, figures: Sequence[HostFigure], length_s: float
    ) -> tuple[str, str] | None:
        """What was not observed of what is needed, and the remedy."""
        if why := why_missing(host, self.question.source, self.question.type):
            return f"{self._metric} was not observed: {why}", "let it be read"
        unseen = _polled(host, self.question.cpus) - {each.names.get("cpu", "") for each in figures}
        if unseen:
            problem = f"{self._metric} was not recorded for CPU {', '.join(sorted(unseen))}"
            return problem, "check that they are online"
        if not figures:
            return f"{self._metric} has no matching series", "check the names"
        seen_s = min(each.observed_s for each in figures)
        if seen_s < MIN_OBSERVED * length_s:
            problem = f"{self._metric} was observed for {seen_s:.4g} s of {length_s:.4g} s"
            return problem, "leave the observers a CPU without polling loops"
        return None

    def _value(self, figure: HostFigure) -> float:
        match self.statistic:
            case "mean":
                return figure.mean
            case "max":
                return figure.peak
            case "min":
                return figure.low
            case "total":
                # It is None for metrics that are not counted, which have no bound on a total.
                return figure.total or 0

    def _made_of(self, figure: HostFigure, metrics: HostMetrics) -> str:
        """The largest part of what broke the bound."""
        if not self.parts:
            return ""
        question = self.question
        names = {"hostname": figure.hostname, **figure.names}
        where = (*question.where, *((name, (value,)) for name, value in names.items()))
        apart = HostQuestion(question.source, question.type, where, question.without, by=self.parts)
        largest = max(metrics.figures(apart), key=self._value)
        named = " ".join(largest.names[name] for name in self.parts if name in largest.names)
        return f", of which {_measure(self._value(largest), self.unit)} are {named}"

    def _finding(
        self, figure: HostFigure, value: float, outcome: FindingOutcome, more: str = ""
    ) -> Finding:
        subject = subject_of(figure)
        found = self.words.format(_measure(value, self.unit))
        limit = _measure(self.limit, self.unit)
        bound = f"at least {limit} needed" if self.least else f"at most {limit} allowed"
        text, invalidates_trial = f"{subject}: {found}{more}; {bound}", outcome == "invalid"
        return Finding(
            self.rule, subject, value, self.limit, self.unit, outcome, text, invalidates_trial
        )

    def _unknown(self, subject: str, said: str, remedy: str) -> Finding:
        text = f"{subject}: {said} ({remedy}, or remove the criterion {self.rule})"
        return Finding(self.rule, subject, None, self.limit, self.unit, "invalid", text)

    @property
    def _metric(self) -> str:
        return f"{self.question.source} {self.question.type}"


def subject_of(figure: HostFigure) -> str:
    """The host, and which of its CPUs or other groups of series: "bench-07 CPU 5"."""
    named = [_NAMED.get(name, "{}").format(value) for name, value in figure.names.items()]
    return " ".join((figure.hostname, *named))


def _polled(host: ObservedHostRecord, cpus: CpuRole | None) -> set[str]:
    """The CPUs that a question about polled ones must find."""
    if cpus is None or cpus in ("all", "housekeeping"):
        return set()
    return {str(cpu) for cpu in polled_cpus(host, cpus)}


def _measure(value: float, unit: str) -> str:
    if unit == "ratio":
        return format_ratio(value)
    number = f"{value:,.0f}" if float(value).is_integer() else format_number(value)
    return f"{number} {unit}".strip()
