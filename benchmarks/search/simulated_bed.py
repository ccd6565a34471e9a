"""Trials on a simulated DUT, run and judged by the code of a real run, without a recorder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plimsoll.benchmark.experiment.trial_settings import TrialSettings
from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.benchmark.trial_run.search_trial import burst_streams
from plimsoll.dut.labs.simulated import SimulatedSettings
from plimsoll.search.strategy.ask import Ask, Told
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.judging.early_abort import EarlyAbort
from plimsoll.trial.judging.evidence import evidence_of
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.verdict import judge_goals
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.running.trial import run_trial

Goals = Mapping[str, tuple[CriterionSettings, ...]]

# 64-byte frames in both directions, and nothing else.
_PROFILE = Profile.model_validate(
    {"streams": [{"name": "load", "role": "load", "frame_size": 64, "direction": "bidirectional"}]}
)
# A real run looks once a second. Here a trial of hours is to take a fraction of a second,
# so it is looked at this often.
_INTERVALS = 200


@dataclass(frozen=True)
class Ran:
    """A trial that was run: what a search is told of it, and the simulated time it took."""

    told: Told
    elapsed_s: float


class SimulatedBed:
    """A simulated DUT, its tester, and the goals that every trial is judged by."""

    def __init__(self, settings: SimulatedSettings, goals: Goals) -> None:
        self._lab = settings.make_without_ledger()
        self._ports = self._lab.up()
        self._generator = settings.simulation.generator()
        self._goals = goals
        self._marks = TrialMarks()

    def run(self, asked: Ask, *, cut_short: bool = False) -> Ran:
        """Run and judge one trial.

        With `cut_short`, one that goes on to its end though it has failed is simulated only
        until it has, and takes the time of the whole: for searches that ask for no more
        than a verdict, on DUTs without a memory.
        """
        begun_s = self._generator.now_s
        outcome = self._outcome(asked, early_abort=cut_short or asked.early_abort)
        elapsed_s = self._generator.now_s - begun_s
        if not asked.early_abort:
            elapsed_s += asked.duration_s - outcome.report.sending_s
        judgements = judge_goals(outcome, self._goals, TesterLimits())
        told = Told(
            verdicts={name: each.verdict for name, each in judgements.items()},
            evidence=evidence_of(outcome),
            rules={
                name: tuple(dict.fromkeys(reason.rule for reason in each.reasons))
                for name, each in judgements.items()
            },
        )
        return Ran(told, elapsed_s)

    def _outcome(self, asked: Ask, *, early_abort: bool) -> Outcome:
        streams = compile_profile(_PROFILE, asked.load_pps, self._ports.paths)
        if asked.burst_frames is not None:
            streams = burst_streams(streams, asked.burst_frames)
        settings = TrialSettings(interval=min(60.0, max(1.0, asked.duration_s / _INTERVALS)))
        plan = settings.plan(
            streams,
            asked.duration_s,
            mark=self._marks.take(),
            load_pps=asked.load_pps,
            queue_frames=self._ports.queue_frames,
        )
        criteria = self._goals[asked.goal]
        abort = EarlyAbort(plan, criteria, self._ports.drained_by, self._ports.queue_frames)
        return run_trial(
            self._generator,
            self._lab,
            self._ports,
            replace(plan, load_pps=asked.load_pps),
            watch=lambda interval: abort(interval) and early_abort,
        )
