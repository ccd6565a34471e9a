"""One kind of frames under test: the experiment for them, and what 100 % of them is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_in_pps
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.ceiling_trial import ceiling_said, step_ceiling
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.frames import FrameSpec
from plimsoll.methods.rfc2544.result import MaximumBasis, Subject
from plimsoll.methods.rfc2544.settings import FrameTestSettings
from plimsoll.record.results.tester_diagnosis import TesterCeiling
from plimsoll.search.strategy.tester_reach import sustainable_pps
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
