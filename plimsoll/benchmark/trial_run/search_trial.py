"""The trial that a search asks for, of an experiment's own streams."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.burst import burst_streams
from plimsoll.benchmark.trial_run.recorded_trial import TrialRequest
from plimsoll.search.strategy.ask import Ask
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile


def search_trial(experiment: Experiment, bed: Testbed, asked: Ask) -> TrialRequest:
    """What answers `asked`, a question of the experiment's search, on this bed."""
    streams = compile_profile(experiment.profile, asked.load_pps, bed.ports.paths)
    if asked.burst_frames is not None:
        streams = _burst(experiment, bed, asked.burst_frames)
    return TrialRequest(
        asked.phase,
        asked.load_pps,
        asked.duration_s,
        streams,
        attempt=asked.attempt,
        goal=asked.goal,
        early_abort=asked.early_abort,
        repetition=asked.repetition,
        comes_again=asked.comes_again,
    )


def _burst(experiment: Experiment, bed: Testbed, frames: int) -> tuple[StreamPlan, ...]:
    """At the highest load of the search where the DUT's emptying would pace it."""
    to_pps = loads_of_search(experiment, bed.line_rate_bps)
    _, maximum_pps = experiment.search.resolve_range(to_pps)
    load = compile_profile(experiment.profile, maximum_pps, bed.ports.paths)
    return burst_streams(load, frames, paced=bed.ports.drained_by == "dut")
