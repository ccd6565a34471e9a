"""One probe in flight for hours, without load: the floor of the path, and what rises above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.benchmark.whole_run.run_audits import media_of
from plimsoll.host.processes.stop_request import stop_requested
from plimsoll.methods.probe.result import METHOD, ProbeResult
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.methods.probe.summary import lines_of, segments_of, statistics_of, windows_of
from plimsoll.methods.probe.windows import ProbeWindows
from plimsoll.record.results.method_result import counts_of, invalid_reasons
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import Paths, compile_profile
from plimsoll.traffic.streams.profile import Profile

# Less is not worth a trial of its own.
_MIN_LEFT_S = 0.1
# Any load: what it is made of gives the probes' frames where the profile has no probe.
_SOME_PPS = 1e6


def run_probe(
    experiment: Experiment, settings: ProbeSettings, run: RunDirectory, listener: ProgressListener
) -> ProbeResult:
    """Run, or go on with, a probe in `run`, and say what was found.

    The first signal ends it in good order, with the result of what there is; windows that
    ended are kept through a kill. A resumed probe runs for what they leave, as a further
    trial. Raises PlimsollError for what the user can fix.
    """
    settings.check(experiment.effective_generator)
    check_search(experiment)
    to_run = MethodRun(
        METHOD, experiment, TestbedConfig.of(experiment), settings=settings.model_dump(mode="json")
    )

    def execute(steps: Steps) -> ProbeResult:
        _probe(steps, experiment, settings)
        return _result(steps.bed, experiment, settings, run, steps)

    return run_method(to_run, run, listener, execute)


def probe_streams(
    profile: Profile, paths: Paths, settings: ProbeSettings
) -> tuple[StreamPlan, ...]:
    """The profile's probes with one frame in flight; load streams' frames where it has none."""
    plans = compile_profile(profile, _SOME_PPS, paths)
    probes: Sequence[StreamPlan] = [plan for plan in plans if plan.role == "latency"] or plans
    pacing = Pacing("one-in-flight", timeout_us=settings.timeout_us)
    return tuple(
        replace(
            plan,
            stream=number,
            role="latency",
            rate_pps=settings.rate.value,
            pacing=pacing,
            frame_count=None,
        )
        for number, plan in enumerate(probes)
    )


def _probe(steps: Steps, experiment: Experiment, settings: ProbeSettings) -> None:
    """One trial for what the windows so far have left of the duration."""
    session, bed = steps.session, steps.bed
    done_s = sum(segment.sending_s for segment in segments_of(session.recorder.history()))
    left_s = settings.duration_s - done_s
    if left_s < _MIN_LEFT_S:
        return
    with stop_requested() as request:
        TrialRunner(session, bed).run(
            TrialRequest(
                "probe",
                0.0,
                left_s,
                probe_streams(experiment.profile, bed.ports.paths, settings),
                tester_only=True,
                overseer=ProbeWindows(session.recorder, settings.window_s, request),
            )
        )


def _result(
    bed: Testbed, experiment: Experiment, settings: ProbeSettings, run: RunDirectory, steps: Steps
) -> ProbeResult:
    history = steps.session.recorder.history()
    windows, segments, trials = windows_of(history), segments_of(history), history.trials()
    probed_s = sum(segment.sending_s for segment in segments)
    whole = probed_s >= settings.duration_s - _MIN_LEFT_S
    return ProbeResult(
        run_id=run.run_id,
        name=experiment.name,
        quick=settings.quick,
        shortfalls=(),
        notes=(*bed.ports.notes, *_notes()),
        trials=counts_of(trials),
        invalid_reasons=invalid_reasons(trials),
        versions=versions(bed.generator.facts),
        media=media_of(bed),
        rate_pps=settings.rate.value,
        timeout_us=settings.timeout_us,
        requested_s=settings.duration_s,
        probed_s=probed_s,
        ended="duration" if whole else "signal",
        statistics=statistics_of(windows, segments),
        windows=lines_of(windows),
        segments=segments,
    )


def _notes() -> tuple[str, ...]:
    return (
        "The next probe goes when the last is back, and no sooner than the rate allows, so a "
        "stall of the DUT costs one sample, however long it lasts: this is the floor of the "
        "path, and not what a stall does to traffic.",
        "There is no load but the probes.",
    )
