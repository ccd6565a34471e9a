"""One kind of frames under test: the experiment for them, and what 100 % of them is."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import BaseModel

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_generator_sends
from plimsoll.benchmark.experiment.loads import load_in_pps
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.trial_run.before_search import ceiling_said, step_ceiling
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.whole_run.method_run import MethodRun
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.result import MaximumBasis, RepeatedSpread, Subject
from plimsoll.methods.rfc2544.settings import FrameSpec, FrameTestSettings
from plimsoll.record.methods.method import Method
from plimsoll.record.results.method_result import Shortfall
from plimsoll.record.results.result import TesterCeiling
from plimsoll.search.strategy.question import sustainable_pps
from plimsoll.search.text.wire import max_pps
from plimsoll.text.units import Rate, format_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import Paths, compile_profile
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.loss_ratio import LossRatio


@dataclass(frozen=True)
class TestSubject:
    """Frames of one kind on one test bed; `experiment` sends and judges them alone.

    `maximum_pps` is what 100 % is, `highest_pps` the highest load to be tested: not more than
    the experiment's search may try. `ceiling` is what the tester can offer of that, None where
    it is all of it, or was not measured.
    """

    # Keeps pytest from taking the class for tests.
    __test__ = False

    frames: FrameSpec
    experiment: Experiment
    paths: Paths
    maximum_pps: float
    minimum_pps: float
    basis: MaximumBasis
    highest_pps: float
    ceiling: TesterCeiling | None = None

    @property
    def label(self) -> str:
        """As tables and steps name it."""
        return self.frames.label

    @property
    def reach_pps(self) -> float:
        """The highest load that may be requested of the tester."""
        ceiling = self.ceiling
        return self.highest_pps if ceiling is None else sustainable_pps(ceiling.offered_pps)

    @property
    def record(self) -> Subject:
        """As the result keeps it."""
        profile = self.experiment.profile
        return Subject(
            frames=self.label,
            sizes=tuple(sorted({size for each in profile.load_streams for size in each.sizes})),
            mean_frame_size=profile.mean_frame_size,
            maximum_pps=self.maximum_pps,
            maximum_basis=self.basis,
        )

    def streams(self, load_pps: float) -> tuple[StreamPlan, ...]:
        """What a trial at `load_pps` per direction sends."""
        return compile_profile(self.experiment.profile, load_pps, self.paths)


def experiment_for(
    experiment: Experiment, frames: FrameSpec, settings: FrameTestSettings, loss_ratio: float = 0.0
) -> Experiment:
    """The experiment with these frames, judged by their loss alone.

    Residual frames have at least `residual_s` of the settings to come in, and the DUT
    `settle_s` to come to rest, where it needs that.
    """
    trial = experiment.trial
    settle_s = settings.settle_s if experiment.lab.settles else 0.0
    gap = max(trial.gap or 0.0, settle_s) or None
    return experiment.model_copy(
        update={
            "profile": frames.of(experiment.profile),
            "criteria": (
                LossRatio(at_most=loss_ratio),
                FrameCount(kind="corrupt"),
                FrameCount(kind="misdirected"),
            ),
            "trial": trial.model_copy(
                update={"drain": max(trial.drain, settings.residual_s), "gap": gap}
            ),
        }
    )


def line_rate_decides() -> InputError:
    """What is raised where a maximum is stated and the lab has a line rate."""
    return InputError(
        "the lab has a line rate, which decides what 100 % is",
        where="--maximum",
        remedy="leave it out",
    )


def subject_of(
    frames: FrameSpec, experiment: Experiment, bed: Testbed, stated: Rate | None
) -> TestSubject:
    """The frames on this bed; `experiment` is the one for them.

    100 % is what the line carries (section 20). Where there is no line it is `stated`, or
    the experiment's highest load. Raises InputError where both are given, or neither can be
    converted to frames a second.
    """
    profile, line_bps = experiment.profile, bed.line_rate_bps
    searched_pps = _load_of(experiment, bed, "maximum")
    if line_bps is None:
        given = None if stated is None else load_in_pps(stated, profile, line_bps, "--maximum")
        maximum_pps = searched_pps if given is None else given
        highest_pps = maximum_pps
    elif stated is None:
        maximum_pps = max_pps(profile.mean_frame_size, line_bps)
        # Of other frames than the experiment's own it may be more than the line carries.
        highest_pps = min(maximum_pps, searched_pps)
    else:
        raise line_rate_decides()
    return TestSubject(
        frames=frames,
        experiment=experiment,
        paths=bed.ports.paths,
        maximum_pps=maximum_pps,
        minimum_pps=min(_load_of(experiment, bed, "minimum"), maximum_pps / 100),
        basis="stated" if line_bps is None else "line-rate",
        highest_pps=highest_pps,
    )


def _load_of(experiment: Experiment, bed: Testbed, field: Literal["minimum", "maximum"]) -> float:
    rate: Rate = experiment.search.loads[field]
    return load_in_pps(rate, experiment.profile, bed.line_rate_bps, f"search.{field}")


def with_ceiling(steps: Steps, subject: TestSubject) -> TestSubject:
    """The subject with what the tester can offer of its highest load on these ports."""
    streams = subject.streams(subject.highest_pps)
    name, highest_pps = subject.label, subject.highest_pps
    ceiling = step_ceiling(steps, subject.experiment, streams, highest_pps, name)
    return replace(subject, ceiling=ceiling)


def bounds_said(subject: TestSubject) -> Iterator[str]:
    """Why loads up to 100 % are not tested, for the result; nothing where they are."""
    maximum_pps, highest_pps, ceiling = subject.maximum_pps, subject.highest_pps, subject.ceiling
    if highest_pps < maximum_pps:
        yield (
            f"{subject.label}: no load above the experiment's search.maximum of "
            f"{format_pps(highest_pps)} per direction was tested; 100 % is "
            f"{format_pps(maximum_pps)}."
        )
    if ceiling is not None:
        yield f"{subject.label}: {ceiling_said(ceiling)} (trial {ceiling.trial})."


def spread_of(values: Sequence[float]) -> RepeatedSpread | None:
    """Mean, extremes and standard deviation of the sample; None without a value."""
    if not values:
        return None
    return RepeatedSpread(
        count=len(values),
        mean=statistics.fmean(values),
        minimum=min(values),
        maximum=max(values),
        deviation=statistics.stdev(values) if len(values) > 1 else None,
    )


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
        replace(TestbedConfig.of(experiment), largest_frame_size=largest),
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
        with experiment.with_source_locations():
            check_generator_sends(experiment, highest.value, where)
    return largest
