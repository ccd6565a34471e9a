"""Our MLRsearch and that of RFC 9971's authors (PyPI's MLRsearch) on the same random DUTs.

Run it as a module from the repository's root, or by `make bench-search`. It prints, for
each kind of DUT and set of goals, how many trials ours needs for one of theirs, and how
far apart the answers are.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev
from types import MappingProxyType

from MLRsearch import (  # type: ignore[import-untyped]
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)
from rich.console import Console
from rich.table import Table

from benchmarks.search.random_duts import DUT_KINDS, RandomDut, random_dut
from plimsoll.search.evidence.trial_evidence import TrialEvidence
from plimsoll.search.mlrsearch.goal import Goal, LoadSpan, MlrPlan
from plimsoll.search.mlrsearch.search import MlrSearch
from plimsoll.search.strategy.ask import Ask, JudgedVerdict, Told

_MINIMUM_PPS, _MAXIMUM_PPS = 1e4, 2e6
_MAX_TRIALS = 5000


@dataclass(frozen=True)
class PeerGoal:
    """A goal, and the loss ratio above which a trial is high-loss."""

    goal: Goal
    loss_ratio: float

    @property
    def theirs(self) -> SearchGoal:
        """For the library, with coarser targets where ours has them."""
        goal = self.goal
        return SearchGoal(
            loss_ratio=self.loss_ratio,
            exceed_ratio=goal.exceed_ratio,
            relative_width=goal.width,
            initial_trial_duration=goal.initial_duration_s,
            final_trial_duration=goal.final_duration_s,
            duration_sum=goal.duration_sum_s,
            preceding_targets=2 if goal.initial_duration_s < goal.duration_sum_s else 0,
            fail_fast=False,
        )


@dataclass(frozen=True)
class Found:
    """What one search made of a DUT: its trials, their time, and the lower bound by goal."""

    trials: int
    elapsed_s: float
    lower_pps: tuple[float | None, ...]


def _csit(name: str, loss_ratio: float) -> PeerGoal:
    return PeerGoal(Goal(name, 0.5, 0.005, 1.0, 1.0, 21.0), loss_ratio)


GOALS: Mapping[str, tuple[PeerGoal, ...]] = MappingProxyType(
    {
        "csit": (_csit("ndr", 0.0), _csit("pdr", 0.005)),
        "csit-ndr": (_csit("ndr", 0.0),),
        "rfc2544 from 1 s": (PeerGoal(Goal("strict", 0.0, 0.005, 1.0, 60.0, 60.0), 0.0),),
        "tst009": (PeerGoal(Goal("tst009", 0.5, 0.005, 60.0, 60.0, 120.0), 0.0),),
    }
)


def ours(goals: Sequence[PeerGoal], dut: RandomDut) -> Found:
    """By Plimsoll."""
    plan = MlrPlan(
        tuple(each.goal for each in goals), LoadSpan(_MINIMUM_PPS, _MAXIMUM_PPS), 3, False, None
    )
    search = MlrSearch(plan)
    while isinstance(asked := search.ask(), Ask):
        if dut.trials >= _MAX_TRIALS:
            raise RuntimeError(f"{dut.trials} trials are not enough")
        search.tell(_told(goals, asked, dut.lost(asked.load_pps, asked.duration_s)))
    return Found(dut.trials, dut.elapsed_s, tuple(end.load_line_pps for end in asked.ends))


def theirs(goals: Sequence[PeerGoal], dut: RandomDut) -> Found:
    """By the authors' library, without its warm-up trial."""
    config = Config()
    config.goals = [each.theirs for each in goals]
    config.min_load, config.max_load = _MINIMUM_PPS, _MAXIMUM_PPS
    config.search_duration_max, config.warmup_duration = 1e9, 0.0
    results = MultipleLossRatioSearch(config).search(_Measurer(dut), lambda text: None)
    lowers = (results[each].relevant_lower_bound for each in config.goals)
    return Found(
        dut.trials,
        dut.elapsed_s,
        tuple(None if lower is None else float(lower) for lower in lowers),
    )


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    def __init__(self, dut: RandomDut) -> None:
        self._dut = dut

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """One trial, in frames."""
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=round(intended_load * intended_duration),
            loss_count=self._dut.lost(intended_load, intended_duration),
        )


def _told(goals: Sequence[PeerGoal], asked: Ask, lost: int) -> Told:
    offered = round(asked.load_pps * asked.duration_s)
    ratio = lost / offered
    verdicts: dict[str, JudgedVerdict] = {
        each.goal.name: "fail" if ratio > each.loss_ratio else "pass" for each in goals
    }
    return Told(verdicts, _evidence(asked.duration_s, offered, lost), {})


def _evidence(duration_s: float, offered: int, lost: int) -> TrialEvidence:
    return TrialEvidence(
        sending_s=duration_s,
        intervals=1,
        offered=offered,
        lost=lost,
        loss_ratio=lost / offered,
        forwarded_pps=(offered - lost) / duration_s,
        first_loss_s=None,
        lossy_intervals=0,
        losses=(),
        min_ns=None,
        p50_ns=None,
        p99_ns=None,
        max_ns=None,
        latency_growth=None,
        peaks=(),
    )


def compared(goals: Sequence[PeerGoal], kind: str, seed: int) -> tuple[Found, Found]:
    """Ours and theirs, each on a DUT of its own with the same draws."""
    return (
        ours(goals, random_dut(kind, seed, _MAXIMUM_PPS)),
        theirs(goals, random_dut(kind, seed, _MAXIMUM_PPS)),
    )


def _apart(found: Found, other: Found, widths: Sequence[float]) -> float:
    """How many widths the answers to one goal are apart at most."""
    pairs = zip(found.lower_pps, other.lower_pps, widths, strict=True)
    return max(
        (abs(one / two - 1.0) / width for one, two, width in pairs if one and two), default=0.0
    )


def _deviation(pairs: Sequence[tuple[Found, Found]]) -> float:
    """The standard error of the mean difference in trials, DUT by DUT; at least two of them."""
    apart = [one.trials - two.trials for one, two in pairs]
    return stdev(apart) / math.sqrt(len(apart))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--goals", choices=list(GOALS), nargs="*", default=list(GOALS))
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    table = Table()
    for heading in (
        "goals",
        "DUT",
        "trials, ours / theirs",
        "of all, ours ÷ theirs ± standard error",
        "of each, min / median / max",
        "time ÷",
        "widths apart, median / max",
    ):
        table.add_column(heading)
    for name in options.goals:
        goals = GOALS[name]
        widths = [each.goal.width for each in goals]
        for kind in DUT_KINDS:
            pairs = [compared(goals, kind, seed) for seed in seeds]
            mine, peer = (mean(each.trials for each in side) for side in zip(*pairs, strict=True))
            times = [mean(each.elapsed_s for each in side) for side in zip(*pairs, strict=True)]
            ratios = [one.trials / two.trials for one, two in pairs]
            apart = [_apart(one, two, widths) for one, two in pairs]
            table.add_row(
                name,
                kind,
                f"{mine:.1f} / {peer:.1f}",
                f"{mine / peer:.3f} ± {_deviation(pairs) / peer:.3f}",
                f"{min(ratios):.2f} / {median(ratios):.2f} / {max(ratios):.2f}",
                f"{times[0] / times[1]:.3f}",
                f"{median(apart):.2f} / {max(apart):.2f}",
            )
        table.add_section()
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
