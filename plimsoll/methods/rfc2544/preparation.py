"""What is looked at before the first trial of a test over several frame sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_generator_sends
from plimsoll.benchmark.testbed.testbed import BedPlan, Testbed
from plimsoll.benchmark.whole_run.method_run import MethodRun
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.settings import FrameTestSettings
from plimsoll.methods.rfc2544.subject import experiment_for, line_rate_decides
from plimsoll.record.methods.method import Method
from plimsoll.record.results.method_result import Shortfall
from plimsoll.text.units import Rate

R = TypeVar("R", bound=BaseModel)


def check_frames(experiment: Experiment, settings: FrameTestSettings) -> int:
    """The largest frame of all, in bytes with FCS.

    Raises what can be known to be wrong before anything is started or written.
    """
    check_search(experiment)
    if settings.maximum is not None and experiment.lab.check_machine().bps is not None:
        raise line_rate_decides()
    sizes = [
        _check(experiment_for(experiment, each, settings), settings) for each in settings.frames
    ]
    return max(sizes)


def run_over_frames(
    method: Method[R],
    experiment: Experiment,
    settings: FrameTestSettings,
    largest: int,
    shortfalls: Callable[[float], tuple[Shortfall, ...]],
) -> MethodRun[R]:
    """What a test over several frame sizes is to do, the `largest` of them in bytes with FCS.

    `shortfalls` are by the drain of its trials, in s.
    """
    return MethodRun(
        method,
        experiment,
        replace(BedPlan.of(experiment), largest_frame_size=largest),
        settings=settings.model_dump(mode="json"),
        shortfalls=shortfalls(max(experiment.trial.drain, settings.residual_s)),
        highest_pps=lambda bed: _highest_pps(experiment, bed, settings.maximum),
    )


def _highest_pps(experiment: Experiment, bed: Testbed, stated: Rate | None) -> float:
    """The fastest load of the experiment's own profile, for the tester's calibration."""
    highest = stated or experiment.search.maximum
    return experiment.profile.pps_of(highest, bed.line_rate_bps)


def _check(experiment: Experiment, settings: FrameTestSettings) -> int:
    """The largest frame of this kind."""
    largest, lab = experiment.largest_frame_size, experiment.lab
    if largest > lab.largest_frame_size:
        raise InputError(
            f"frames of {largest} bytes do not pass a lab of kind {lab.kind}",
            where="--sizes",
            remedy=f"use frames of at most {lab.largest_frame_size} bytes, or another lab",
        )
    highest = settings.maximum or experiment.search.maximum
    if highest.unit == "pps":
        where = "--maximum" if settings.maximum else "search.maximum"
        with experiment.placing():
            check_generator_sends(experiment, highest.value, where)
    return largest
