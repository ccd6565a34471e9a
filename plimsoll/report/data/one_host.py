"""The metrics of one of the hosts that were observed during a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.record.run.observed_host import ObservedHostRecord
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.host_question import CpuRole, HostFigure, HostQuestion

# Of the kinds of something, those that are named.
_MOST_KINDS = 3


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
    largest = sorted(figures, key=lambda each: -each.mean)[:_MOST_KINDS]
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
