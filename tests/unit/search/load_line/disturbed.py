"""Trials of a DUT whose CPU is taken by named causes, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.search.evidence.trial_evidence import (
    FIRST_KEPT,
    LONGEST_KEPT,
    Disturbance,
    DutAbsence,
    TrialEvidence,
)
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.trials import tried

# When the loop lost its CPU in s, and for how long.
Times = Sequence[tuple[float, float]]


def disturbance(name: str, times: Times, *, cpu: int | None = 1) -> Disturbance:
    """A task's absences; kept as attribution keeps them."""
    absences = [
        DutAbsence(at_s=at_s, length_ns=round(length_s * 1e9), confidence="exact")
        for at_s, length_s in sorted(times)
    ]
    rest = sorted(absences[FIRST_KEPT:], key=lambda each: each.length_ns)[-LONGEST_KEPT:]
    kept = (*absences[:FIRST_KEPT], *sorted(rest, key=lambda each: each.at_s))
    return Disturbance(kind="task", name=name, cpu=cpu, count=len(absences), absences=kept)


def disturbed(
    load_pps: float,
    seconds: int,
    by_name: Mapping[str, Times],
    *,
    unnamed: Times = (),
    losses: dict[int, int] | None = None,
) -> Tried:
    """Its peaks are the longest stall of each second, the 64 highest of them."""
    longest_ns: dict[int, int] = {}
    for at_s, length_s in (*unnamed, *(each for times in by_name.values() for each in times)):
        second = int(at_s + length_s)
        longest_ns[second] = max(longest_ns.get(second, 0), round(length_s * 1e9))
    highest = sorted(longest_ns, key=lambda second: longest_ns[second])[-64:]
    peaks_ns = {second: longest_ns[second] for second in sorted(highest)}
    trial = tried(load_pps, seconds, peaks_ns=peaks_ns, losses=losses)
    named = tuple(disturbance(name, times) for name, times in by_name.items())
    return with_disturbances(trial, named)


def with_disturbances(trial: Tried, disturbances: tuple[Disturbance, ...]) -> Tried:
    """The same trial, with what took the DUT's CPU."""
    evidence = TrialEvidence.model_validate(
        {**trial.evidence.model_dump(), "disturbances": disturbances}
    )
    return replace(trial, told=replace(trial.told, evidence=evidence))
