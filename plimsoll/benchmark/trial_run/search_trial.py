"""The trial that a search asks for, of an experiment's own streams."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.burst import burst_streams
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.search.strategy.ask import Ask
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile


def search_trial(experiment: Experiment, bed: Testbed, ask: Ask) -> TrialRequest:
    """What answers `ask`, a question of the experiment's search, on this bed."""
    streams = compile_profile(experiment.profile, ask.load_pps, bed.ports.paths)
    if ask.burst_frames is not None:
        streams = _burst(experiment, bed, ask.burst_frames)
    return TrialRequest(
        ask.phase,
        ask.load_pps,
        ask.duration_s,
        streams,
        attempt=ask.attempt,
        goal=ask.goal,
        early_abort=ask.early_abort,
        repetition=ask.repetition,
        comes_again=ask.comes_again,
    )


def _burst(experiment: Experiment, bed: Testbed, frames: int) -> tuple[StreamPlan, ...]:
    """At the highest load of the search where the DUT's emptying would pace it."""
    to_pps = loads_of_search(experiment, bed.line_rate_bps)
    _, maximum_pps = experiment.search.resolve_range(to_pps)
    load = compile_profile(experiment.profile, maximum_pps, bed.ports.paths)
    return burst_streams(load, frames, paced=bed.ports.drained_by == "dut")
