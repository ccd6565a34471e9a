"""Latency at 0, 10, 50 and 90 % of a rate: how the probes fare under more and more load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.trial_run.before_search import (
    has_baseline,
    measure_baseline,
    needs_baseline,
    step_ceiling,
)
from plimsoll.benchmark.trial_run.search_trial import search_answer, search_trial
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.benchmark.whole_run.preflight import check_search, check_trial
from plimsoll.benchmark.whole_run.run_audits import media_of
from plimsoll.errors import InputError
from plimsoll.methods.latency_at_load.result import (
    METHOD,
    POINT,
    LatencyAtLoadResult,
    LoadPoint,
    StreamLatency,
)
from plimsoll.methods.latency_at_load.settings import LatencyAtLoadSettings
from plimsoll.record.results.method_result import counts_of, invalid_reasons
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.search.strategy.ask import Ask, GoalEnd
from plimsoll.search.strategy.question import sustainable_pps
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile


def run_latency_at_load(
    experiment: Experiment,
    settings: LatencyAtLoadSettings,
    run: RunDirectory,
    listener: ProgressListener,
) -> LatencyAtLoadResult:
    """Run, or go on with, the trials in `run`. Raises PlimsollError for what the user can fix."""
    check_latency_at_load(experiment, settings)
    to_run = MethodRun(
        METHOD,
        experiment,
        TestbedConfig.of(experiment),
        settings=settings.model_dump(mode="json"),
        highest_pps=lambda bed: _highest_pps(experiment, settings, bed),
    )

    def execute(steps: Steps) -> LatencyAtLoadResult:
        return _execute(steps, experiment, settings, run)

    return run_method(to_run, run, listener, execute)


def check_latency_at_load(experiment: Experiment, settings: LatencyAtLoadSettings) -> None:
    """Raise what can be known to be wrong before anything is started or written."""
    settings.check()
    check_search(experiment)
    if not experiment.profile.latency_streams:
        with experiment.with_source_locations():
            raise InputError(
                "the profile has no stream that probes",
                where="profile.streams",
                remedy="add one with role: latency",
            )
    loads = [percent for percent in settings.percents if percent > 0]
    if settings.rate is not None and loads:
        for percent in sorted({min(loads), max(loads)}):
            load = replace(settings.rate, value=settings.rate.value * percent / 100)
            check_trial(experiment, load, "--loads")


def _highest_pps(experiment: Experiment, settings: LatencyAtLoadSettings, bed: Testbed) -> float:
    rate = settings.rate or experiment.search.maximum
    return experiment.profile.pps_of(rate, bed.line_rate_bps)


def _execute(
    steps: Steps, experiment: Experiment, settings: LatencyAtLoadSettings, run: RunDirectory
) -> LatencyAtLoadResult:
    end = None if settings.rate else search_rate(steps, experiment)
    rate_pps = _highest_pps(experiment, settings, steps.bed) if end is None else end.load_line_pps
    points: list[LoadPoint] = []
    for percent in settings.percents if rate_pps else ():
        points.append(_point(steps, experiment, settings, percent, (rate_pps or 0.0)))
        point = points[-1].model_dump(mode="json")
        steps.session.recorder.event(POINT, point=point, rate_pps=rate_pps)
    trials = steps.session.recorder.history().trials()
    return LatencyAtLoadResult(
        run_id=run.run_id,
        name=experiment.name,
        quick=settings.quick,
        shortfalls=(),
        notes=(*steps.bed.ports.notes, *_notes(experiment)),
        trials=counts_of(trials),
        invalid_reasons=invalid_reasons(trials),
        versions=versions(steps.bed.generator.facts),
        media=media_of(steps.bed),
        rate_pps=rate_pps,
        rate_from=settings.rate_from,
        reason=end.reason if end and rate_pps is None else None,
        points=tuple(points),
        search_verdict=None if rate_pps else _search_verdict(trials),
    )


def _search_verdict(trials: Sequence[TrialRecord]) -> Verdict:
    """Of a search that found nothing: one that the tester ended has an invalid trial last."""
    judged = [trial.verdict for trial in trials if trial.verdict != "none"]
    return "fail" if judged and judged[-1] == "fail" else "invalid"


def search_rate(steps: Steps, experiment: Experiment) -> GoalEnd:
    """Search as the experiment asks, each of its trials a step; the first goal's end."""
    _prepare(steps, experiment)
    to_pps = loads_of_search(experiment, steps.bed.line_rate_bps)
    _, maximum_pps = experiment.search.resolve_range(to_pps)
    streams = _streams(steps, experiment, maximum_pps)
    ceiling = step_ceiling(steps, experiment, streams, maximum_pps, METHOD.name)
    reach_pps = None if ceiling is None else sustainable_pps(ceiling.offered_pps)
    search = experiment.begin_search(to_pps, reach_pps)
    asks = 0
    while isinstance(ask := search.ask(), Ask):
        asks += 1
        request = search_trial(experiment, steps.bed, ask)
        trial = steps.once(experiment, replace(request, step=f"search/{asks}"))
        search.tell(search_answer(trial))
    return ask.first


def _prepare(steps: Steps, experiment: Experiment) -> None:
    """Measure what criteria of the search may be multiples of, once a run."""
    session = steps.session
    if needs_baseline(experiment) and not has_baseline(session.recorder.history().trials()):
        to_pps = loads_of_search(experiment, steps.bed.line_rate_bps)
        lowest_pps, _ = experiment.search.resolve_range(to_pps)
        runner = TrialRunner(session, steps.bed)
        measure_baseline(runner, _streams(steps, experiment, lowest_pps), lowest_pps)


def _point(
    steps: Steps,
    experiment: Experiment,
    settings: LatencyAtLoadSettings,
    percent: float,
    rate_pps: float,
) -> LoadPoint:
    load_pps = rate_pps * percent / 100
    request = TrialRequest(
        "latency",
        load_pps,
        settings.trial_s,
        _streams(steps, experiment, load_pps),
        tester_only=True,
        step=f"latency/{percent:g}",
    )
    trial = steps.valid(experiment, request)
    return LoadPoint(
        percent=percent,
        load_pps=load_pps,
        offered_pps=trial.offered_pps,
        trial=trial.number,
        sending_s=trial.sending_s,
        streams=_latencies(trial),
        verdict=trial.verdict,
        reason="; ".join(each.text for each in trial.reasons) or None,
    )


def _latencies(trial: TrialRecord) -> tuple[StreamLatency, ...]:
    return tuple(
        StreamLatency(
            name=stream.name,
            role=stream.role,
            sent=stream.sent,
            lost=stream.lost,
            latency=stream.latency,
            across_stalls=stream.samples_across_stalls,
            latency_low=stream.latency_low,
            latency_high=stream.latency_high,
            latency_estimate=stream.latency_estimate,
        )
        for stream in trial.streams
    )


def _streams(steps: Steps, experiment: Experiment, load_pps: float) -> tuple[StreamPlan, ...]:
    """At no load, the probes alone."""
    # What it is made of does not depend on the load, as far as probes go.
    plans = compile_profile(experiment.profile, load_pps or 1e6, steps.bed.ports.paths)
    return plans if load_pps else tuple(plan for plan in plans if plan.role == "latency")


def _notes(experiment: Experiment) -> Iterator[str]:
    waiting = [s.name for s in experiment.profile.latency_streams if s.rate is None]
    if waiting:
        yield (
            f"{', '.join(waiting)}: one probe in flight, so a stall of the DUT costs one sample, "
            "however long it lasts."
        )
    yield (
        "Latencies are from the send stamp to the receive stamp, the tester's own path "
        "included; where stalls of the tester may have delayed some of them, the least and the "
        "most that the DUT took are both given."
    )
