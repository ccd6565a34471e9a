"""One trial at one load, judged and recorded, without a search."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_within_line
from plimsoll.benchmark.session.session import ProgressListener
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest, TrialRunner
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.methods.trial.result import METHOD
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import Rate
from plimsoll.traffic.streams.compile import compile_profile


def run_single_trial(
    experiment: Experiment,
    run: RunDirectory,
    load: Rate,
    duration_s: float,
    listener: ProgressListener,
) -> TrialRecord:
    """Run the experiment's profile at `load` for `duration_s` into `run`.

    Raises PlimsollError for what the user can fix.
    """
    check_trial(experiment, load, "load")

    def execute(steps: Steps) -> TrialRecord:
        load_pps = load_within_line(load, experiment, steps.bed.line_rate_bps, "load")
        streams = compile_profile(experiment.profile, load_pps, steps.bed.ports.paths)
        runner = TrialRunner(steps.session, steps.bed)
        return runner.run(TrialRequest("single", load_pps, duration_s, streams))

    to_run = MethodRun(METHOD, experiment, TestbedConfig.of(experiment))
    return run_method(to_run, run, listener, execute)
