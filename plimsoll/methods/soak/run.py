"""A soak: hours at one load, one trial without a break, judged per window and over all."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_within_line, loads_of_search
from plimsoll.benchmark.session.session import ProgressListener
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.benchmark.trial_run.before_search import has_baseline, measure_baseline
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_overseer import WindowWatch
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.host.processes.stop_request import stop_requested
from plimsoll.methods.soak.result import METHOD, SoakResult
from plimsoll.methods.soak.series import segments_of
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.methods.soak.summary import summarise_soak
from plimsoll.methods.soak.verdict import SoakWatch, left_s
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.text.units import format_duration
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.trial.judging.windows import WindowRules


def run_soak(
    experiment: Experiment, settings: SoakSettings, run: RunDirectory, listener: ProgressListener
) -> SoakResult:
    """Run, or go on with, a soak in `run`, and say what was found.

    SIGINT, SIGTERM or SIGHUP ends it in good order with the result of what there is; a
    second one breaks it off. Raises PlimsollError for what the user can fix; closed
    windows are kept then, too, and a soak that is resumed runs for what they leave.
    """
    check_trial(experiment, settings.load, "--load")
    to_run = MethodRun(
        METHOD, experiment, TestbedConfig.of(experiment), settings=settings.model_dump(mode="json")
    )
    return run_method(
        to_run, run, listener, lambda steps: _Soak(steps, experiment, settings).execute()
    )


class _Soak:
    """One session of a soak."""

    def __init__(self, steps: Steps, experiment: Experiment, settings: SoakSettings) -> None:
        self._session = steps.session
        self._bed = steps.bed
        self._experiment = experiment
        self._settings = settings
        self._runner = TrialRunner(steps.session, steps.bed)

    def execute(self) -> SoakResult:
        """Run what is left of it, and sum up all that is recorded."""
        recorder = self._session.recorder
        remaining_s = left_s(segments_of(recorder.history()), self._settings)
        if remaining_s:
            self._prepare()
            self._run(remaining_s)
        return summarise_soak(recorder.run)

    def _prepare(self) -> None:
        """Warm up, and measure the baseline that a criterion may need."""
        to_pps = loads_of_search(self._experiment, self._bed.line_rate_bps)
        lowest_pps, _ = self._experiment.search.resolve_range(to_pps)
        streams = self._streams(lowest_pps)
        if self._experiment.trial.warmup is not None:
            warmup_s = self._experiment.trial.warmup
            self._runner.run(TrialRequest("warmup", lowest_pps, warmup_s, streams, judged=False))
        needed = any(criterion.needs_baseline for criterion in self._experiment.criteria)
        if needed and not has_baseline(self._session.recorder.history().trials()):
            measure_baseline(self._runner, streams, lowest_pps)

    def _run(self, duration_s: float) -> None:
        limits = self._experiment.tester.of_validation()
        rules = WindowRules(self._settings.window_s, self._experiment.criteria, limits)
        load_pps = self._load_pps()
        stopping = self._settings.stop_on_failure
        with stop_requested() as request:
            windows = WindowWatch(
                rules,
                self._session.recorder,
                stop_on_failure=stopping,
                on_window=self._tell,
                hosts=self._bed.observers.records,
            )
            self._runner.run(
                TrialRequest(
                    "soak",
                    load_pps,
                    duration_s,
                    self._streams(load_pps),
                    early_abort=stopping,
                    overseer=SoakWatch(windows, request),
                )
            )

    def _load_pps(self) -> float:
        line_rate_bps = self._bed.line_rate_bps
        return load_within_line(self._settings.load, self._experiment, line_rate_bps, "--load")

    def _streams(self, load_pps: float) -> tuple[StreamPlan, ...]:
        return compile_profile(self._experiment.profile, load_pps, self._bed.ports.paths)

    def _tell(self, window: WindowRecord) -> None:
        reason = f": {window.reasons[0].text}" if window.reasons else ""
        verdict = "too short to judge" if window.verdict == "none" else window.verdict
        begin = format_duration(window.begin_s) if window.begin_s else "0s"
        end = format_duration(window.begin_s + window.sending_s)
        self._session.listener.note(f"window {window.index}, {begin} to {end}: {verdict}{reason}")
