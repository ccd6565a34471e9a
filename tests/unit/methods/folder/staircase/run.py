from plimsoll.methods.staircase.result import METHOD, Stair, StaircaseResult
from pydantic import BaseModel

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.session import ProgressListener, versions
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.benchmark.trial_run.steps import Steps
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.benchmark.whole_run.method_run import MethodRun, run_method
from plimsoll.record.results.method_result import counts_of, invalid_reasons
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.streams.compile import compile_profile


class StaircaseSettings(BaseModel):
    loads_pps: tuple[float, ...] = (500e3, 900e3)


def run_staircase(
    experiment: Experiment,
    settings: StaircaseSettings,
    run: RunDirectory,
    listener: ProgressListener,
) -> StaircaseResult:
    def execute(steps: Steps) -> StaircaseResult:
        stairs = [_stair(steps, experiment, load_pps) for load_pps in settings.loads_pps]
        trials = steps.session.recorder.history().trials()
        return StaircaseResult(
            run_id=run.run_id,
            name=experiment.name,
            quick=False,
            shortfalls=(),
            notes=(),
            trials=counts_of(trials),
            invalid_reasons=invalid_reasons(trials),
            versions=versions(steps.bed.generator.facts),
            stairs=tuple(stairs),
        )

    requested = settings.model_dump(mode="json")
    to_run = MethodRun(METHOD, experiment, TestbedConfig.of(experiment), requested)
    return run_method(to_run, run, listener, execute)


def _stair(steps: Steps, experiment: Experiment, load_pps: float) -> Stair:
    streams = compile_profile(experiment.profile, load_pps, steps.bed.ports.paths)
    step = f"stair/{load_pps:g}"
    request = TrialRequest("frame-loss", load_pps, 1.0, streams, tester_only=True, step=step)
    trial = steps.valid(experiment, request)
    return Stair(load_pps=load_pps, lost=sum(stream.lost for stream in trial.streams))
