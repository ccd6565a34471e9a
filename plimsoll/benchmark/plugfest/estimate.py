"""How long a plugfest may take, before it has run anything."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.matrix.plan import MatrixPlan, read_iteration
from plimsoll.record.run.run_directory import RunDirectory

# Of each repetition apart from its trials: lab and generator up and down, calibration's own
# bed, the kernel's events explained, the page written. As seen on two shared CPUs.
AROUND_S = 10.0
_NOT_OF_THE_LENGTH = ("name", "profile", "noise", "lab", "generator", "tuning")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one repetition of each cell that can be run, and of all; None where nothing tells."""

    cells: int
    repetitions: int
    round_least_s: float | None
    round_most_s: float | None

    @property
    def least_s(self) -> float | None:
        """Of all repetitions, at least."""
        return None if self.round_least_s is None else self.round_least_s * self.repetitions

    @property
    def most_s(self) -> float | None:
        """Of all repetitions, at most."""
        return None if self.round_most_s is None else self.round_most_s * self.repetitions


def estimate(run: RunDirectory, plan: MatrixPlan, refused: Collection[int]) -> Estimate:
    """From the search's plan on ideal DUTs; invalid trials come on top."""
    known: dict[str, tuple[float | None, float | None]] = {}
    bounds = []
    for each in plan.iterations:
        if each.number in refused:
            continue
        experiment = read_iteration(run, each.number)
        key = _length_key(experiment)
        if key not in known:
            planned = planned_duration(experiment)
            known[key] = (planned.least_s, planned.most_s)
        bounds.append(known[key])
    return Estimate(
        cells=len(bounds),
        repetitions=plan.samples,
        round_least_s=_sum([least for least, _ in bounds]),
        round_most_s=_sum([most for _, most in bounds]),
    )


def _sum(seconds: list[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return None if len(known) < len(seconds) else sum(known) + AROUND_S * len(known)


def _length_key(experiment: Experiment) -> str:
    """What the length of a run hangs on, so that it is worked out once for most cells."""
    data = experiment.normalised()
    for field in _NOT_OF_THE_LENGTH:
        data.pop(field, None)
    simulated = experiment.lab.simulated
    probes = bool(experiment.profile.latency_streams)
    return json.dumps([data, simulated, probes, str(experiment.lab.directions)], sort_keys=True)
