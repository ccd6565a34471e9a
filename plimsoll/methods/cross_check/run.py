"""`plimsoll cross-check`: one profile on the same ports, sent by several generators in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_streams_sent
from plimsoll.benchmark.session.session import ProgressListener, Session, versions
from plimsoll.benchmark.testbed.testbed import TestbedConfig, testbed
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_in_session
from plimsoll.benchmark.whole_run.preflight import machine_mistakes
from plimsoll.benchmark.whole_run.run_audits import media_of, record_environment
from plimsoll.errors import InputError
from plimsoll.methods.cross_check.figures import checked_figures
from plimsoll.methods.cross_check.result import (
    CROSS_CHECK_TRIAL,
    METHOD,
    CheckStage,
    CrossCheckResult,
    GeneratorTrial,
)
from plimsoll.methods.cross_check.settings import CrossCheckSettings
from plimsoll.record.results.method_result import counts_of, invalid_reasons
from plimsoll.record.run.journal import JournalEvent
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.document import truths_as_numbers
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import Paths, compile_profile
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.outcome.due_frames import due_frames

# Of the journal's event: what carried the frames, and the versions of the generator and its parts.
_MEDIA, _VERSIONS, _TRIAL = "media", "versions", "trial"


def check_cross_check(experiment: Experiment, settings: CrossCheckSettings) -> None:
    """Raise what can be known to be wrong before anything is started or written."""
    settings.check()
    who = contenders(experiment, settings)
    if not any(turns(who, 1)):
        raise InputError(
            f"{', '.join(each.kind for each in who)} have no way of sending in common",
            where="--generators",
            remedy="name generators that pace, or such as do not; plimsoll generators lists both",
        )
    for each in who:
        found, _ = machine_mistakes(each.experiment.lab, each.experiment.effective_generator)
        for mistake in found:
            raise mistake


def run_cross_check(
    experiment: Experiment,
    settings: CrossCheckSettings,
    run: RunDirectory,
    listener: ProgressListener,
) -> CrossCheckResult:
    """Run, or go on with, the turns in `run`. Raises PlimsollError for what the user can fix."""
    check_cross_check(experiment, settings)
    to_run = MethodRun(
        METHOD,
        experiment,
        TestbedConfig.of(experiment),
        settings=settings.model_dump(mode="json"),
    )

    def execute(session: Session) -> CrossCheckResult:
        return _execute(session, settings, run)

    return run_in_session(to_run, run, listener, execute)


def _execute(session: Session, settings: CrossCheckSettings, run: RunDirectory) -> CrossCheckResult:
    who = contenders(session.experiment, settings)
    taken = {(each.stage, each.turn, each.generator) for each in _done(_events(session))}
    for turn in turns(who, settings.rounds):
        if (turn.stage, turn.number, turn.contender.kind) not in taken:
            _take(session, settings, turn)
    events = _events(session)
    done = _done(events)
    trials = session.recorder.history().trials()
    return CrossCheckResult(
        run_id=run.run_id,
        name=session.experiment.name,
        quick=False,
        shortfalls=(),
        notes=_notes(done),
        trials=counts_of(trials),
        invalid_reasons=invalid_reasons(trials),
        versions=_all_versions([each.fields.get(_VERSIONS) for each in events]),
        media=str(events[0].fields.get(_MEDIA)) if events else "",
        load_pps=settings.load_pps if any(each.stage == "paced" for each in done) else None,
        rounds=settings.rounds,
        generators=tuple(each.kind for each in who),
        turns=tuple(done),
        figures=checked_figures(done),
    )


def _events(session: Session) -> tuple[JournalEvent, ...]:
    return session.recorder.history().of_kind(CROSS_CHECK_TRIAL)


def _done(events: Sequence[JournalEvent]) -> list[GeneratorTrial]:
    return [GeneratorTrial.model_validate(each.fields[_TRIAL]) for each in events]


def _take(session: Session, settings: CrossCheckSettings, turn: Turn) -> None:
    """Bring lab and generator up anew, and run one trial, again where the tester spoiled it."""
    experiment = turn.contender.experiment
    own = replace(session, experiment=experiment)
    with testbed(TestbedConfig.of(experiment), session.ledger, session.listener.note) as bed:
        if not session.recorder.run.environment.exists():
            record_environment(own, bed, None)
        paths: Paths = bed.ports.paths
        streams = staged_streams(experiment, turn.stage, settings.load_pps, paths)
        request = TrialRequest(
            "single",
            settings.load_pps,
            settings.trial_s,
            streams,
            tester_only=True,
            step=turn.step,
        )
        trial = Steps(own, bed).valid(experiment, request)
        session.recorder.event(
            CROSS_CHECK_TRIAL,
            **{
                _TRIAL: _generator_trial(turn, trial, streams).model_dump(mode="json"),
                _MEDIA: media_of(bed),
                _VERSIONS: versions(bed.generator.facts),
            },
        )


def _generator_trial(
    turn: Turn, trial: TrialRecord, streams: Sequence[StreamPlan]
) -> GeneratorTrial:
    due = [due_frames(each, trial.sending_s) for each in streams]
    probes = [each for each in trial.streams if each.role == "latency"]
    return GeneratorTrial(
        generator=turn.contender.kind,
        stage=turn.stage,
        turn=turn.number,
        trial=trial.number,
        verdict=trial.verdict,
        reason="; ".join(each.text for each in trial.reasons) or None,
        sending_s=trial.sending_s,
        due=None if None in due else sum(each for each in due if each is not None),
        sent=sum(each.sent for each in trial.streams),
        received=sum(each.received - each.duplicate for each in trial.streams),
        dut_received=None
        if trial.dut is None
        else sum(each.rx_frames + each.rx_missed + each.rx_errors for each in trial.dut),
        dut_sent=None if trial.dut is None else sum(each.tx_frames for each in trial.dut),
        probes=sum(each.latency_ends[1].count for each in probes),
        min_ns=min(_known(probes, "min_ns"), default=None),
        p50_ns=max(_known(probes, "p50_ns"), default=None),
        p99_ns=max(_known(probes, "p99_ns"), default=None),
    )


def _known(probes: Sequence[StreamRecord], name: str) -> list[int]:
    """As measured: generators that do not know their stalls have no other end to compare."""
    values = (getattr(each.latency_ends[1], name) for each in probes)
    return [value for value in values if value is not None]


def _all_versions(found: Sequence[object]) -> dict[str, str | None]:
    """Of all generators; what one does not have, such as an engine, another may."""
    together: dict[str, str | None] = {}
    for each in found:
        for name, version in each.items() if isinstance(each, Mapping) else ():
            together[name] = version or together.get(name)
    return together


def _notes(done: Sequence[GeneratorTrial]) -> tuple[str, ...]:
    stages = {each.stage for each in done}
    paced = "Paced: the profile at one load. " if "paced" in stages else ""
    unpaced = (
        "Unpaced: its load alone, as fast as each generator and the port go. "
        if "unpaced" in stages
        else ""
    )
    return (
        f"{paced}{unpaced}Lab and generator were brought up anew for every trial, and the order "
        "turned around with every round.",
        "Burstiness, the gaps between frames as they arrive, was not looked at.",
    )


# Who sends what in a cross-check: each generator's experiment, its stages and their streams.
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
        """By which it is found again in a running run."""
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
