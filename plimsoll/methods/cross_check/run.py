"""`plimsoll cross-check`: one profile on the same ports, sent by several generators in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.benchmark.session.progress_listener import ProgressListener
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import BedPlan, testbed
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.benchmark.whole_run.environment import record_environment
from plimsoll.benchmark.whole_run.media import media_of
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_in_session
from plimsoll.benchmark.whole_run.preflight import machine_mistakes
from plimsoll.errors import InputError
from plimsoll.methods.cross_check.figures import checked_figures
from plimsoll.methods.cross_check.result import (
    CROSS_CHECK_TRIAL,
    METHOD,
    CrossCheckResult,
    GeneratorTrial,
)
from plimsoll.methods.cross_check.settings import CrossCheckSettings
from plimsoll.methods.cross_check.turns import Turn, contenders, staged_streams, turns
from plimsoll.record.results.trial_counts import counts_of, invalid_reasons
from plimsoll.record.run.journal import JournalEvent
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import Paths
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
        BedPlan.of(experiment),
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
    with testbed(BedPlan.of(experiment), session.ledger, session.listener.note) as bed:
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
