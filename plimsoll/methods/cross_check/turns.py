"""Who sends what in a cross-check: each generator's experiment, its stages and their streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_streams_sent
from plimsoll.errors import InputError
from plimsoll.methods.cross_check.result import CheckStage
from plimsoll.methods.cross_check.settings import CrossCheckSettings
from plimsoll.text.document import truths_as_numbers
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import Paths, compile_profile
from plimsoll.trial.criteria.loss_ratio import LossRatio


@dataclass(frozen=True)
class Contender:
    """A generator and the experiment with it; `stages` are those that it takes part in."""

    kind: str
    experiment: Experiment
    stages: tuple[CheckStage, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One trial to come."""

    contender: Contender
    stage: CheckStage
    number: int

    @property
    def step(self) -> str:
        """By which it is found again in a run that goes on."""
        return f"{self.stage}/{self.number}/{self.contender.kind}"


def contenders(experiment: Experiment, settings: CrossCheckSettings) -> tuple[Contender, ...]:
    """Each generator, checked with all that it is to send.

    Raises InputError for one that can send nothing of the profile.
    """
    return tuple(_contender(experiment, settings, section) for section in settings.generators)


def turns(who: tuple[Contender, ...], rounds: int) -> Iterator[Turn]:
    """Stage by stage, forwards and backwards by turns: what drifts, drifts for all alike."""
    stages: tuple[CheckStage, ...] = ("paced", "unpaced")
    for stage in stages:
        able = [each for each in who if stage in each.stages]
        # One alone has nothing to be compared with.
        for number in range(1, rounds + 1 if len(able) > 1 else 1):
            for each in able if number % 2 else reversed(able):
                yield Turn(each, stage, number)


def staged_streams(
    experiment: Experiment, stage: CheckStage, load_pps: float, paths: Paths
) -> tuple[StreamPlan, ...]:
    """The profile's streams; unpaced, its load alone and back to back."""
    streams = compile_profile(experiment.profile, load_pps, paths)
    if stage == "paced":
        return streams
    loads = (each for each in streams if each.role == "load")
    return tuple(
        replace(each, stream=number, rate_pps=None, pacing=Pacing("back-to-back"))
        for number, each in enumerate(loads)
    )


def _contender(
    experiment: Experiment, settings: CrossCheckSettings, section: dict[str, object]
) -> Contender:
    kind = str(section["kind"])
    # Nothing judges the DUT here; what is judged by default not every generator measures.
    data = {**experiment.normalised(), "generator": section}
    data["criteria"] = [LossRatio().model_dump(mode="json")]
    data["search"] = {**data["search"]}
    try:
        varied = Experiment.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{kind}: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where="--with",
            remedy=f"set the fields of {kind}, as in --with {kind}.cpus=[2]",
        ) from error
    for _, field in truths_as_numbers(data, varied):
        raise InputError(
            f"{kind}.{field} is true or false", where="--with", remedy="write a number"
        )
    return Contender(kind, varied, tuple(_stages(kind, varied, settings.load_pps)))


def _stages(kind: str, experiment: Experiment, load_pps: float) -> Iterator[CheckStage]:
    """Those whose pacing it has; what else it lacks for them is a mistake."""
    able = experiment.effective_generator.capabilities.pacings
    stages: tuple[CheckStage, ...] = ("paced", "unpaced")
    for stage in stages:
        streams = staged_streams(experiment, stage, load_pps, experiment.lab.directions)
        paced = any(each.rate_pps is not None for each in streams)
        if not {each.pacing.kind for each in streams} <= able or paced != (stage == "paced"):
            continue
        try:
            check_streams_sent(experiment, streams, "--load")
        except InputError as refusal:
            raise InputError(
                f"{kind}: {refusal.message}",
                where=refusal.where,
                remedy=f"leave {kind} out, or: {refusal.remedy}",
            ) from refusal
        yield stage
