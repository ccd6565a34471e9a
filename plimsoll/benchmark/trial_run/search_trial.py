"""The trial that a search asks for, of an experiment's own streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.trial_runner import TrialRequest
from plimsoll.record.trials.trial_record import GoalVerdict, TrialRecord
from plimsoll.search.strategy.ask import Ask, JudgedVerdict, Phase, RecordedTrial, Told
from plimsoll.traffic.plan import Pacing, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile


def burst_streams(
    streams: Sequence[StreamPlan], frames: int, *, paced: bool = False
) -> tuple[StreamPlan, ...]:
    """The load streams alone, sending `frames` in each direction as fast as the port takes them.

    A port that the DUT empties, as memif, takes them only as fast as the DUT does, which
    could then lose nothing: there they are to be `paced`, at the rates that they have.
    The streams of one direction share its frames evenly, each sending at least one.
    Raises ValueError when `frames` is not positive.
    """
    if frames < 1:
        raise ValueError("a burst has at least one frame")
    load = [stream for stream in streams if stream.role == "load"]
    sharing = Counter((stream.tx_port, stream.rx_port) for stream in load)
    begun: Counter[tuple[int, int]] = Counter()
    bursts: list[StreamPlan] = []
    for stream in load:
        path = (stream.tx_port, stream.rx_port)
        share, rest = divmod(frames, sharing[path])
        count = max(1, share + (begun[path] < rest))
        begun[path] += 1
        burst = replace(stream, frame_count=count)
        at_once = replace(burst, rate_pps=None, pacing=Pacing("back-to-back"))
        bursts.append(burst if paced else at_once)
    return tuple(bursts)


# Exceeding what the rule allows by this factor is not chance.
_FAR = 2
_PHASES: tuple[Phase, ...] = get_args(Phase)


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


# What searches learn of trials, from the trials' records: live and from the journal alike.
def search_answer(trial: TrialRecord) -> Told:
    """What a search learns of the trial that it requested. Raises ValueError for any other."""
    if trial.evidence is None or not trial.goals:
        raise ValueError(f"trial {trial.number} was not judged for a search")
    return Told(
        verdicts={goal: _verdict(judged) for goal, judged in trial.goals.items()},
        evidence=trial.evidence,
        rules={goal: judged.rules for goal, judged in trial.goals.items()},
        offered_at_most_pps=_offered_at_most_pps(trial),
    )


def recorded(trials: Sequence[TrialRecord]) -> Iterator[RecordedTrial]:
    """Those of an earlier session's trials that its search had requested, in order."""
    for trial in trials:
        for phase in _PHASES:
            if trial.phase == phase:
                yield RecordedTrial(phase, trial.load_pps, search_answer(trial))


def _offered_at_most_pps(trial: TrialRecord) -> float | None:
    """The load that the tester reached, where it cannot be hoped to reach more.

    That is so where it fell far short, or short by more than its stalls explain; not where a
    single stall, which may pass, is most of it.
    """
    reached_pps = trial.evidence.offered_pps if trial.evidence else None
    broken = [
        (each.value, each.limit)
        for each in trial.findings
        if (each.rule, each.outcome) == ("offered-rate", "invalid")
        and each.value is not None
        and each.limit is not None
    ]
    if trial.phase == "burst" or not broken or not reached_pps or not trial.load_pps:
        return None
    beyond, limit = max(broken)
    # In a validation `beyond` is without what the absences of the tester's loop explain.
    short = min(1 - reached_pps / trial.load_pps, beyond)
    longest_stall = _longest_s(worker.worst_stall_ns for worker in trial.workers) / trial.sending_s
    stalled = _longest_s(worker.stalled_ns for worker in trial.workers) / trial.sending_s
    if longest_stall >= short / 2:
        return None
    is_ceiling = short > _FAR * limit or short - stalled > limit
    return trial.load_pps * (1 - short) if is_ceiling else None


def _longest_s(of_loops_ns: Iterable[int]) -> float:
    """The worst loop's."""
    return max(of_loops_ns, default=0) / 1e9


def _verdict(judged: GoalVerdict) -> JudgedVerdict:
    if judged.verdict == "none":
        raise ValueError("a goal's verdict is missing")
    return judged.verdict
