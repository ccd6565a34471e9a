"""Holds what a trial's record says against what was provoked in it, by time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.record.causes.causes_record import Cause, ExplainedIncident
from tests.integration.provoked.disturbed_trial import DisturbedTrial, Provoked

# Shorter parts of an incident are lost among others.
MIN_S = 0.0002
Rightly = Callable[[Cause], bool]


@dataclass(frozen=True)
class Score:
    """How many were provoked; met by an incident; named rightly; and errors of lengths in us."""

    what: str
    provoked: int
    seen: int
    named: int
    errors_us: tuple[float, ...]

    def __str__(self) -> str:
        text = f"{self.what}: {self.provoked} provoked, {self.seen} met, {self.named} named rightly"
        if not self.errors_us:
            return text
        least, most = min(self.errors_us), max(self.errors_us)
        return f"{text}; length off by {least:.1f} / {median(self.errors_us):.1f} / {most:.1f} us"

    def hold(self) -> None:
        """What the issue asks for: 95 % named rightly, and lengths within 20 us."""
        print(self)
        # The rest met no frame: the other loop was away at the time, or longer lists were full.
        assert self.seen >= 0.5 * self.provoked > 0, self
        assert self.named >= 0.95 * self.seen, self
        assert self.lengths_hold, self

    @property
    def lengths_hold(self) -> bool:
        """Whether 95 % are within 20 us."""
        return sum(abs(each) <= 20 for each in self.errors_us) >= 0.95 * len(self.errors_us)


def score(
    what: str, trial: DisturbedTrial, provoked: Sequence[Provoked], cpu: int, rightly: Rightly
) -> Score:
    """Of the times `provoked` on a CPU, those with a cause that `rightly` says is the right one.

    Lengths are compared where the incident holds all of the time and the truth is known.
    """
    seen, named, errors = 0, 0, []
    for each in provoked:
        met = list(_met(trial, each, cpu))
        seen += bool(met)
        right = [(incident, found) for incident in met if (found := _found(incident, rightly))]
        named += bool(right)
        lengths = [_length_ns(incident, found, cpu, each) for incident, found in right]
        known = [length for length in lengths if length is not None]
        if known and each.most_ns:
            off = (_off_ns(length, each, trial.causes.tsc_hz) for length in known)
            errors.append(min(off, key=abs) / 1e3)
    return Score(what, len(provoked), seen, named, tuple(errors))


def _off_ns(length_ns: int, provoked: Provoked, tsc_hz: float) -> float:
    """By how much a length lies outside what its maker knows of it; 0 inside.

    By its own readings it lacks the way from and to sleep; the CPU time that the kernel charged
    holds some of the kernel's own work, too. The two are 20 to 40 us apart.
    """
    least, most = sorted((provoked.ns(tsc_hz), float(provoked.most_ns)))
    return length_ns - min(max(length_ns, least), most)


def _met(trial: DisturbedTrial, provoked: Provoked, cpu: int) -> Iterator[ExplainedIncident]:
    """Incidents that share at least the least time with it, of frames or of this CPU's loop."""
    hz = trial.causes.tsc_hz
    # Of a time without a known end all that is known is its begin.
    end = max(provoked.end_tsc, provoked.begin_tsc + round(MIN_S * hz))
    for incident in trial.causes.incidents:
        if incident.kind == "stall" and incident.subject != f"CPU {cpu}":
            continue
        shared = min(incident.end_tsc, end) - max(incident.begin_tsc, provoked.begin_tsc)
        if shared >= 0.8 * MIN_S * hz:
            yield incident


def _found(incident: ExplainedIncident, rightly: Rightly) -> Cause | None:
    return next((cause for cause in incident.causes if rightly(cause)), None)


def _length_ns(
    incident: ExplainedIncident, cause: Cause, cpu: int, provoked: Provoked
) -> int | None:
    """Of the cause with what interrupted it; None where the incident holds only a part of it."""
    if cause.confidence != "exact" or cause.begin_tsc is None or cause.length_ns is None:
        return None
    if incident.begin_tsc > cause.begin_tsc or incident.end_tsc < provoked.end_tsc:
        return None
    return cause.length_ns + sum(
        each.length_ns or 0
        for each in incident.causes
        if each.cpu == cpu
        and each is not cause
        and each.begin_tsc is not None
        and each.kind in ("interrupt", "softirq", "timer-tick", "ipi", "tlb-shootdown")
        and cause.begin_tsc < each.begin_tsc < provoked.end_tsc
    )


def task(name: str, cpu: int) -> Rightly:
    """A task of this name that had the CPU."""
    return lambda cause: (cause.kind, cause.name, cause.cpu) == ("task", name, cpu)


def sent_by(kinds: Iterable[str], name: str, cpu: int) -> Rightly:
    """One of these kinds, set off by the task of this name."""
    return lambda cause: (
        cause.kind in kinds and cause.cpu == cpu and (cause.woken_by or "").startswith(f"{name} (")
    )
