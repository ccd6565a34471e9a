"""The trials of a run by purpose, and how long they may take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from plimsoll.benchmark.calibration.calibration import CALIBRATION_TRIAL_S
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import loads_of_search
from plimsoll.benchmark.trial_run.before_search import (
    CEILING_TRIAL_S,
    MAX_BASELINE_TRIALS,
    MAX_CEILING_TRIALS,
    needs_baseline,
)
from plimsoll.benchmark.trial_run.pre_trial import teaching_trial
from plimsoll.record.results.check_result import PlannedPhase
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.search.evidence.trial_evidence import LossSample, TrialEvidence
from plimsoll.search.strategy.ask import Ask, Phase, Search, Told
from plimsoll.text.units import format_duration

# Over the range of the search, and one below and above it: the lengths of a bisection differ
# by a trial or two, those of the other strategies by more.
_DUTS = 33
_PHASES: dict[Phase, str] = {
    "sniff": "whether a load is worth a search trial",
    "search": "which loads pass",
    "burst": "how much the DUT's buffers hold",
    "watch": "whether the DUT stalls at a load",
    "validation": "whether the load that was found holds",
}
# Of every frame: an ideal DUT does nothing but forward.
_LATENCY_NS = 20_000
# Far more than any search with reasonable settings asks for.
_MAX_TRIALS = 100_000


@dataclass(frozen=True)
class TypicalPhase:
    """What a phase takes in the mean over ideal DUTs: trials, and s in all."""

    name: str
    trials: float
    seconds: float


@dataclass(frozen=True)
class PlannedTime:
    """The phases in their order, and the time of all trials, in s; None where not known yet.

    `typical` has their means, where the search is known, and `maximum_pps` is its highest load
    per direction.
    """

    phases: tuple[PlannedPhase, ...]
    least_s: float | None
    most_s: float | None
    assumptions: tuple[str, ...]
    typical: tuple[TypicalPhase, ...] = ()
    maximum_pps: float | None = None


@dataclass(frozen=True)
class LoadRange:
    """The ends of a search in pps per direction; `line_rate_bps` is L1, None without one."""

    minimum_pps: float
    maximum_pps: float
    line_rate_bps: float | None


def planned_time(experiment: Experiment, loads: LoadRange | None) -> PlannedTime:
    """Of a run of the experiment; without `loads` the search's own trials are not known."""
    before = tuple(_before_search(experiment))
    costs = () if loads is None else _costs(experiment, loads)
    if not costs:
        return PlannedTime((*before, *_unknown()), None, None, tuple(_left_out(experiment)))
    of_searches = [_whole_s(experiment, cost) for cost in costs]
    return PlannedTime(
        phases=(*before, *_of_search(experiment, costs)),
        least_s=sum(each.least_s or 0.0 for each in before) + min(of_searches),
        most_s=sum(each.most_s or 0.0 for each in before) + max(of_searches),
        assumptions=(_IDEAL, *_left_out(experiment)),
        typical=(*map(_middle, before), *_typical_of_search(experiment, costs)),
        maximum_pps=None if loads is None else loads.maximum_pps,
    )


_IDEAL = (
    f"The search was walked through for {_DUTS + 2} ideal DUTs, each of which passes every trial "
    "up to some load, from below the minimum to above the maximum, and fails every one above it. "
    "Invalid trials, and validations that fail, come on top; trials that fail may end sooner."
)


def _left_out(experiment: Experiment) -> Iterator[str]:
    if experiment.lab.simulated:
        yield "The time is simulated: the run itself takes as long as its computation."
    yield "Bringing lab and generator up, and writing the report, are not counted."
    if experiment.trial.before is not None:
        most = format_duration(experiment.trial.before.timeout)
        yield f"Nor is trial.before, which may take up to {most} before every trial."


def _before_search(experiment: Experiment) -> Iterator[PlannedPhase]:
    trial = experiment.trial
    if not experiment.lab.simulated:
        points = 2 if experiment.profile.latency_streams else 1
        yield _phase(
            experiment,
            "calibration",
            (points, points),
            CALIBRATION_TRIAL_S,
            "what the tester itself adds and carries, over rings",
        )
    if trial.warmup is not None:
        about = "fills caches and tables at the least load; discarded"
        yield _phase(experiment, "warmup", (1, 1), trial.warmup, about)
    if not experiment.lab.simulated:
        about = "what the tester offers on these ports, at the highest load"
        bounds = (1, MAX_CEILING_TRIALS)
        yield _phase(experiment, "ceiling", bounds, CEILING_TRIAL_S, about)
    if needs_baseline(experiment):
        about = "the latency at the least load, of which criteria are multiples"
        bounds = (1, MAX_BASELINE_TRIALS)
        yield _phase(experiment, "baseline", bounds, trial.baseline, about)


def _phase(
    experiment: Experiment,
    name: TrialPhase,
    bounds: tuple[int, int],
    duration_s: float,
    about: str,
) -> PlannedPhase:
    least, most = bounds
    each_s = duration_s + _around_s(experiment, name)
    return PlannedPhase(
        name=name,
        trials_least=least,
        trials_most=most,
        least_s=least * each_s,
        most_s=most * each_s,
        about=about,
    )


def _of_search(experiment: Experiment, costs: Sequence[SearchCost]) -> Iterator[PlannedPhase]:
    for phase, about in _PHASES.items():
        trials = [cost.trials[phase] for cost in costs]
        if any(trials):
            seconds = [_phase_s(experiment, cost, phase) for cost in costs]
            yield PlannedPhase(
                name=phase,
                trials_least=min(trials),
                trials_most=max(trials),
                least_s=min(seconds),
                most_s=max(seconds),
                about=about,
            )


def _typical_of_search(
    experiment: Experiment, costs: Sequence[SearchCost]
) -> Iterator[TypicalPhase]:
    for phase in _PHASES:
        trials = mean(cost.trials[phase] for cost in costs)
        seconds = mean(_phase_s(experiment, cost, phase) for cost in costs)
        yield TypicalPhase(phase, trials, seconds)


def _middle(phase: PlannedPhase) -> TypicalPhase:
    """Of one that no DUT decides on: between its bounds."""
    trials = ((phase.trials_least or 0) + (phase.trials_most or 0)) / 2
    return TypicalPhase(phase.name, trials, ((phase.least_s or 0.0) + (phase.most_s or 0.0)) / 2)


def _unknown() -> Iterator[PlannedPhase]:
    for phase in ("search", "validation"):
        yield PlannedPhase(
            name=phase,
            trials_least=None,
            trials_most=None,
            least_s=None,
            most_s=None,
            about=_PHASES[phase],
        )


def _costs(experiment: Experiment, loads: LoadRange) -> tuple[SearchCost, ...]:
    """For each ideal DUT; those for which the search does not end are left out."""
    to_pps = loads_of_search(experiment, loads.line_rate_bps)
    goals = tuple(experiment.goals)
    found = (
        cost_of(experiment.begin_search(to_pps), goals, capacity_pps)
        for capacity_pps in _capacities(loads)
    )
    return tuple(cost for cost in found if cost is not None)


def _capacities(loads: LoadRange) -> Iterator[float]:
    """From below the minimum to above the maximum, at equal ratios."""
    yield loads.minimum_pps / 2
    ratio = loads.maximum_pps / loads.minimum_pps
    for step in range(_DUTS):
        yield loads.minimum_pps * ratio ** (step / (_DUTS - 1))
    yield loads.maximum_pps * 2


def _whole_s(experiment: Experiment, cost: SearchCost) -> float:
    return sum(_phase_s(experiment, cost, phase) for phase in cost.trials)


def _phase_s(experiment: Experiment, cost: SearchCost, phase: Phase) -> float:
    return cost.seconds[phase] + cost.trials[phase] * _around_s(experiment, phase)


def _around_s(experiment: Experiment, phase: TrialPhase) -> float:
    """The time of one trial apart from sending: the pause, what is taught first, the drain."""
    trial = experiment.trial
    teaching = teaching_trial(experiment, experiment.lab.directions, phase)
    taught_s = 0.0 if teaching is None else teaching.duration_s + trial.drain
    return (trial.gap or 0.0) + taught_s + trial.drain


# A DUT by definition, never run: it passes every trial up to some load, and fails all above.
@dataclass(frozen=True)
class SearchCost:
    """What a search asks for before it ends: by phase its trials, and their length in s."""

    trials: Counter[Phase] = field(default_factory=Counter)
    seconds: defaultdict[Phase, float] = field(default_factory=lambda: defaultdict(float))


def cost_of(search: Search, goals: Collection[str], capacity_pps: float) -> SearchCost | None:
    """Of a search that begins, on a DUT that carries so much per direction.

    No trial is invalid, and none ends before its time. None where the search goes on and on.
    """
    cost = SearchCost()
    for _ in range(_MAX_TRIALS):
        ask = search.ask()
        if not isinstance(ask, Ask):
            return cost
        cost.trials[ask.phase] += 1
        cost.seconds[ask.phase] += ask.duration_s
        search.tell(_answer(ask, goals, capacity_pps))
    return None


def _answer(ask: Ask, goals: Collection[str], capacity_pps: float) -> Told:
    held = ask.load_pps <= capacity_pps
    rules: Mapping[str, tuple[str, ...]] = dict.fromkeys(goals, () if held else ("loss-ratio",))
    return Told(
        verdicts=dict.fromkeys(goals, "pass" if held else "fail"),
        evidence=_evidence(ask, max(0.0, 1 - capacity_pps / ask.load_pps)),
        rules=rules,
    )


def _evidence(ask: Ask, loss_ratio: float) -> TrialEvidence:
    """Of a trial of two directions that loses the same share from its first moment on."""
    offered = max(1, round(2 * ask.load_pps * ask.duration_s))
    lost = max(1, round(offered * loss_ratio)) if loss_ratio else 0
    losses = (LossSample(begin_s=0.0, end_s=ask.duration_s, frames=lost),) if lost else ()
    return TrialEvidence(
        sending_s=ask.duration_s,
        intervals=max(1, round(ask.duration_s)),
        offered=offered,
        lost=lost,
        loss_ratio=loss_ratio,
        forwarded_pps=ask.load_pps * (1 - loss_ratio),
        first_loss_s=0.0 if lost else None,
        lossy_intervals=len(losses),
        losses=losses,
        min_ns=_LATENCY_NS,
        p50_ns=_LATENCY_NS,
        p99_ns=_LATENCY_NS,
        max_ns=_LATENCY_NS,
        latency_growth=0.0,
        peaks=(),
        offered_pps=ask.load_pps,
    )
