"""The figures of a cross-check, whether generators differ, and what says which one is wrong.

The DUT is the witness: it counted the same frames as each generator, and is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.methods.cross_check.result import (
    CheckedFigure,
    CheckedValue,
    CheckStage,
    GeneratorTrial,
)
from plimsoll.text.counted import counted
from plimsoll.text.units import format_ns, format_ratio

# By so much of what is due a generator's rate is its own fault, as DUTs count exactly.
_RATE_OFF = 0.005


@dataclass(frozen=True, slots=True)
class _Kind:
    """A figure of a trial, None where it has none; and the evidence from all that have it."""

    name: str
    unit: str
    of: Callable[[GeneratorTrial], float | None]
    evidence: Callable[[Sequence[GeneratorTrial]], Iterator[str]]


def checked_figures(trials: Sequence[GeneratorTrial]) -> tuple[CheckedFigure, ...]:
    """Of each stage, those that two generators or more have; of valid trials alone."""
    stages: tuple[CheckStage, ...] = ("paced", "unpaced")
    return tuple(
        figure
        for stage in stages
        for kind in _KINDS
        if (
            figure := _figure(
                kind, stage, [t for t in trials if t.stage == stage and t.verdict == "pass"]
            )
        )
    )


def _figure(
    kind: _Kind, stage: CheckStage, trials: Sequence[GeneratorTrial]
) -> CheckedFigure | None:
    found: dict[str, list[float]] = {}
    for trial in trials:
        if (value := kind.of(trial)) is not None:
            found.setdefault(trial.generator, []).append(value)
    if len(found) < 2:
        return None
    values = {
        generator: CheckedValue(
            median=median(each), lowest=min(each), highest=max(each), trials=len(each)
        )
        for generator, each in found.items()
    }
    return CheckedFigure(
        stage=stage,
        name=kind.name,
        unit=kind.unit,
        values=values,
        differs=_differ(values.values()),
        evidence=tuple(kind.evidence([t for t in trials if t.generator in found])),
    )


def _differ(values: Iterable[CheckedValue]) -> bool:
    """Whether two ranges have nothing in common."""
    ranges = sorted(values, key=lambda each: each.lowest)
    return max(each.lowest for each in ranges) > min(each.highest for each in ranges)


def _offered(trial: GeneratorTrial) -> float | None:
    """As a share of what was due; in pps where nothing was."""
    return trial.sent / trial.due if trial.due else None


def _sent_pps(trial: GeneratorTrial) -> float | None:
    return trial.sent / trial.sending_s if trial.due is None and trial.sending_s else None


def _received_pps(trial: GeneratorTrial) -> float | None:
    return trial.received / trial.sending_s if trial.due is None and trial.sending_s else None


def _loss(trial: GeneratorTrial) -> float | None:
    return (trial.sent - trial.received) / trial.sent if trial.sent else None


def _rate_evidence(trials: Sequence[GeneratorTrial]) -> Iterator[str]:
    """The DUT's own count of what came, held against what was due and against the sender's."""
    for generator, own in _by_generator(trials):
        compared = [each for each in own if each.dut_received is not None]
        if not compared:
            yield f"{generator}: the DUT has no counters; its own count is all there is."
            continue
        apart = [each.sent - (each.dut_received or 0) for each in compared]
        agree = (
            "agrees with the DUT's to the frame"
            if not any(apart)
            else (f"is off the DUT's by {min(apart):+,} to {max(apart):+,} frames")
        )
        said = f"{generator}: its count of sent frames {agree} in {counted(len(compared), 'trial')}"
        paced = [each for each in compared if each.due]
        if paced:
            share = median((each.dut_received or 0) / (each.due or 1) for each in paced)
            off = abs(1 - share) > _RATE_OFF
            verdict = "so the generator does not keep its rate" if off else "it keeps its rate"
            said += f"; by the DUT's count {format_ratio(share)} of what was due came, {verdict}"
        yield f"{said}."


def _loss_evidence(trials: Sequence[GeneratorTrial]) -> Iterator[str]:
    """What the DUT itself lost, and what was lost outside of it, by its counters."""
    for generator, own in _by_generator(trials):
        counted = [t for t in own if t.dut_received is not None and t.dut_sent is not None]
        if not counted:
            yield f"{generator}: the DUT has no counters; where frames were lost is not known."
            continue
        inside = sum((each.dut_received or 0) - (each.dut_sent or 0) for each in counted)
        before = sum(each.sent - (each.dut_received or 0) for each in counted)
        after = sum((each.dut_sent or 0) - each.received for each in counted)
        where = (
            f"{inside:,} frames inside the DUT, {before:,} before and {after:,} after it"
            if inside or before or after
            else "none, and the DUT's counters say the same"
        )
        yield f"{generator}: lost {where}, of {sum(each.sent for each in counted):,} sent."


def _latency_evidence(trials: Sequence[GeneratorTrial]) -> Iterator[str]:
    """The DUT's floor is the same for all: what a minimum has above the lowest is the tester's."""
    floors = {
        generator: min(known)
        for generator, own in _by_generator(trials)
        if (known := [each.min_ns for each in own if each.min_ns is not None])
    }
    if len(floors) < 2:
        return
    lowest = min(floors, key=lambda generator: floors[generator])
    for generator, floor_ns in floors.items():
        if generator != lowest:
            yield (
                f"The lowest latency is {format_ns(floor_ns)} by {generator} and "
                f"{format_ns(floors[lowest])} by {lowest}, through the same DUT: "
                f"{format_ns(floor_ns - floors[lowest])} of it {generator} adds itself, by its own "
                "path or by how coarsely it tells time."
            )


def _by_generator(
    trials: Sequence[GeneratorTrial],
) -> Iterator[tuple[str, list[GeneratorTrial]]]:
    for generator in dict.fromkeys(each.generator for each in trials):
        yield generator, [each for each in trials if each.generator == generator]


def _quantile(name: str) -> Callable[[GeneratorTrial], float | None]:
    return lambda trial: getattr(trial, name)


_KINDS = (
    _Kind("offered rate", "ratio", _offered, _rate_evidence),
    _Kind("sent", "pps", _sent_pps, _rate_evidence),
    _Kind("received", "pps", _received_pps, lambda _: iter(())),
    _Kind("loss", "ratio", _loss, _loss_evidence),
    _Kind("p50 latency", "ns", _quantile("p50_ns"), _latency_evidence),
    _Kind("p99 latency", "ns", _quantile("p99_ns"), lambda _: iter(())),
)
