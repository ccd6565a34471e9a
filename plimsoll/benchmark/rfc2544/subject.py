"""One kind of frames under test: the experiment for them, and what 100 % of them is."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.experiment import Experiment
from plimsoll.benchmark.loads import loads_of_search
from plimsoll.benchmark.rfc2544.frames import Frames
from plimsoll.benchmark.rfc2544.settings import FrameTestSettings
from plimsoll.benchmark.testbed import Testbed
from plimsoll.dut.lab import Paths
from plimsoll.errors import InputError
from plimsoll.record.rfc2544_result import MaximumBasis, Subject
from plimsoll.traffic.compile import compile_profile
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.units import Rate
from plimsoll.traffic.wire import max_pps
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.loss_ratio import LossRatio


@dataclass(frozen=True)
class TestSubject:
    """Frames of one kind on one test bed; `experiment` sends and judges them alone."""

    # Keeps pytest from taking the class for tests.
    __test__ = False

    frames: Frames
    experiment: Experiment
    paths: Paths
    maximum_pps: float
    minimum_pps: float
    basis: MaximumBasis

    @property
    def label(self) -> str:
        """As tables and steps name it."""
        return self.frames.label

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
    experiment: Experiment, frames: Frames, settings: FrameTestSettings, loss_ratio: float = 0.0
) -> Experiment:
    """The experiment with these frames, judged by their loss alone.

    Residual frames have at least `residual_s` of the settings to come in, and the DUT
    `settle_s` to come to rest. A simulated one rests in no time.
    """
    trial = experiment.trial
    lab_kind: str = experiment.lab.kind
    settle_s = 0.0 if lab_kind == "simulated" else settings.settle_s
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
    frames: Frames, experiment: Experiment, bed: Testbed, stated: Rate | None
) -> TestSubject:
    """The frames on this bed; `experiment` is the one for them.

    100 % is what the line carries (section 20). Where there is no line it is `stated`, or
    the experiment's highest load. Raises InputError where both are given, or neither can be
    told in frames a second.
    """
    profile = experiment.profile
    to_pps = loads_of_search(profile, bed.line_rate_bps)
    if bed.line_rate_bps is None:
        highest = experiment.search.maximum if stated is None else stated
        maximum_pps, basis = to_pps("maximum", highest), "stated"
    elif stated is None:
        maximum_pps, basis = max_pps(profile.mean_frame_size, bed.line_rate_bps), "line-rate"
    else:
        raise line_rate_decides()
    return TestSubject(
        frames=frames,
        experiment=experiment,
        paths=bed.ports.paths,
        maximum_pps=maximum_pps,
        minimum_pps=min(to_pps("minimum", experiment.search.minimum), maximum_pps / 100),
        basis="stated" if basis == "stated" else "line-rate",
    )
