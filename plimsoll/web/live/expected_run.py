"""What a run's experiment says of how long it may take, and which streams probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.errors import PlimsollError
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.run.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """`least_s` and `most_s` bound the whole run as `plimsoll check` does; None where unknown."""

    probes: frozenset[str] = frozenset()
    least_s: float | None = None
    most_s: float | None = None


def expected_of(run: RunDirectory, method: str | None) -> ExpectedRun:
    """As far as the experiment can be read here, which may be another host than the run's."""
    try:
        probes = _probes(run.read_experiment())
    except PlimsollError:
        return ExpectedRun()
    if method != LOAD_LINE:
        return ExpectedRun(probes)
    try:
        experiment = load_experiment(run.experiment)
        # In simulated time, which passes as fast as it can be computed.
        time = None if experiment.lab.simulated else planned_duration(experiment)
    except PlimsollError:
        time = None
    return ExpectedRun(probes) if time is None else ExpectedRun(probes, time.least_s, time.most_s)


def _probes(experiment: Mapping[str, Any]) -> frozenset[str]:
    profile = experiment.get("profile")
    streams = profile.get("streams") if isinstance(profile, Mapping) else None
    return frozenset(
        str(stream.get("name"))
        for stream in (streams if isinstance(streams, list) else ())
        if isinstance(stream, Mapping) and stream.get("role") == "latency"
    )
