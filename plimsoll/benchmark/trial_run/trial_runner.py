"""A trial that is run, watched, judged and recorded: the step all methods are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.attribution.explanation.counters import CounterMove, WallClock, counter_moves
from plimsoll.attribution.incidents.loops import on_tester_cpus_ns
from plimsoll.attribution.ranking.summary import limit_sentence, summarise
from plimsoll.attribution.ranking.trial_causes import CausesFound, loss_blame
from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.disturbances import TrialDisturbances, disturbances_of
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.trial_run.pre_trial import (
    background_streams,
    pause_between_trials,
    run_before_trial,
    settings_of,
    teaching_trial,
)
from plimsoll.benchmark.trial_run.trial_overseer import (
    NoOverseer,
    StartingTrial,
    TrialOverseer,
    WindowWatch,
)
from plimsoll.dut.lab import DutPortCounters
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.neighbours.noise import TrialNoise
from plimsoll.record.recorder import TrialRecorder
from plimsoll.record.run.run_directory import trial_period
from plimsoll.record.trials.trial_parts import (
    LossBlameRecord,
    OfferedRange,
    ScheduleRecord,
    TrialContext,
    TrialIdentity,
    TrialPhase,
)
from plimsoll.record.trials.trial_record import DutPortRecord, GoalVerdict, TrialRecord
from plimsoll.search.strategy.ask import ONLY_GOAL
from plimsoll.traffic.plan import StreamPlan
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.judging.dut_agreement import counter_sums
from plimsoll.trial.judging.early_abort import EarlyAbort
from plimsoll.trial.judging.evidence import evidence_of
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.tester_losses import noise_findings, shared_cpu, without_tester_losses
from plimsoll.trial.judging.verdict import Judgement, judge_goals
from plimsoll.trial.judging.windows import WindowRules
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.host_metrics import HostMetrics
from plimsoll.trial.outcome.outcome import Baseline, Outcome
from plimsoll.trial.outcome.repetition import Repetition
from plimsoll.trial.running.schedule_watch import ScheduleWatch


@dataclass(frozen=True)
class TrialRequest:
    """What to run. Unjudged trials (warm-up, calibration) have the verdict "none".

    With `tester_only` no criterion is evaluated: a pass then says that the tester was fit.
    The criteria of `goal`, None for the experiment's own, give the verdict, and end the
    trial early where `early_abort` allows; those of repeatability heed `comes_again`.
    `repetition` and `step` are recorded, and what `observe` finds in the outcome. The
    `overseer` may stop it, and adds its own findings.
    """

    phase: TrialPhase
    load_pps: float
    duration_s: float
    streams: tuple[StreamPlan, ...]
    attempt: int = 1
    judged: bool = True
    tester_only: bool = False
    goal: str | None = None
    early_abort: bool = True
    repetition: int = 1
    comes_again: bool = False
    step: str | None = None
    observe: Callable[[Outcome], Mapping[str, float | None]] | None = None
    overseer: TrialOverseer | None = None


@dataclass(frozen=True)
class _EndedTrial:
    """What came of a trial: its outcome, what others found in it, its causes, and when it sent."""

    outcome: Outcome
    overseen: Sequence[Finding]
    schedule: ScheduleRecord | None
    causes: CausesFound | None
    offered: OfferedRange | None
    noise: tuple[NeighbourRun, ...]


@dataclass(frozen=True)
class TrialRunner:
    """Runs a session's trials on one test bed."""

    session: Session
    bed: Testbed

    def run(self, request: TrialRequest) -> TrialRecord:
        """Prepare it and run it to its verdict; the record is on disk when this returns."""
        experiment, paths = self.session.experiment, self.bed.ports.paths
        teaching = teaching_trial(experiment, paths, request.phase)
        self._prepare(request, teaching is not None)
        if teaching is not None:
            rate_pps, duration_s = teaching.rate_pps, teaching.duration_s
            self._run(
                TrialRequest("teaching", rate_pps, duration_s, teaching.streams, judged=False)
            )
        return self._run(request)

    def _prepare(self, request: TrialRequest, taught_first: bool) -> None:
        """Before the requested trial, and before what is taught for it."""
        settings = self.session.experiment.trial
        number = self.session.recorder.history().next_trial_number()
        pause_between_trials(settings, number)
        run_before_trial(
            settings,
            self.session.scratch,
            number=number + taught_first,
            phase=request.phase,
            load_pps=request.load_pps,
            duration_s=request.duration_s,
        )

    def _run(self, request: TrialRequest) -> TrialRecord:
        history = self.session.recorder.history()
        number = history.next_trial_number()
        settings = settings_of(self.session.experiment.trial, request.phase)
        planned = self.bed.plan(settings, request.streams, request.duration_s, request.load_pps)
        abort = self._early_abort(request, planned, history.trials())
        plan = self.bed.shared_cpus.without_wakeups(
            planned, () if abort is None else abort.loss_limits, live=settings.live
        )
        paths = self.bed.ports.paths
        background = background_streams(
            self.session.experiment, request.streams, paths, request.phase
        )
        with self.session.recorder.trial(
            plan,
            number=number,
            phase=request.phase,
            attempt=request.attempt,
            refused_is_lost=self.bed.ports.drained_by == "dut",
            capacity=self.bed.capacity,
        ) as recording:
            self.session.listener.trial_started(number, request.phase, plan)
            overseer = self._overseer(request)
            baseline = _baseline(history.trials())
            overseer.begin(StartingTrial(number, plan, self.bed.ports, baseline))
            disturbed = self.bed.disturbances.of_trial(
                plan, refused_is_lost=self.bed.ports.drained_by == "dut"
            )
            watch = self._watch(abort, recording, overseer, disturbed)
            with self.bed.noise.during_trial() as noise:
                schedule = ScheduleWatch(self.bed.polling_pids)
                with self.bed.observers.watching(trial_period(number), recording.measured_by):
                    whole = self.bed.trial(plan, watch, background)
                scheduled = schedule.ended()
            outcome, overseen = overseer.ended(self._with_hosts(whole, number))
            compared = _with_comparisons(outcome, request, history.trials())
            found = self._causes(number, compared, disturbed, noise)
            compared = replace(compared, longest=() if found is None else found.latency)
            ended = _EndedTrial(
                outcome=compared,
                overseen=(*overseen, *noise_findings(noise.runs)),
                schedule=scheduled,
                causes=found,
                offered=recording.offered,
                noise=noise.runs,
            )
            record = self._record(number, request, ended)
            recording.end(record, compared.report.streams)
            if found is not None:
                self.session.recorder.causes(found.record, found.events)
        self.session.listener.trial_ended(record)
        return record

    def _with_hosts(self, outcome: Outcome, number: int) -> Outcome:
        """The outcome with what the observers saw while frames were sent."""
        run, period = self.session.recorder.run, trial_period(number)
        hosts = HostMetrics(run, period, self.bed.observers.records)
        report = outcome.report
        return replace(outcome, host=hosts.during(report.begin_unix_ns, report.sending_s))

    def _overseer(self, request: TrialRequest) -> TrialOverseer:
        """The requested one; a long validation is judged per window as well."""
        experiment = self.session.experiment
        criteria = experiment.criteria_of(request.goal)
        rules = WindowRules(experiment.trial.window, criteria, self._limits(request.phase))
        if request.overseer is not None:
            return request.overseer
        if request.phase == "validation" and rules.applies_to(request.duration_s):
            stopping = request.early_abort
            hosts = self.bed.observers.records
            return WindowWatch(rules, self.session.recorder, stop_on_failure=stopping, hosts=hosts)
        return NoOverseer()

    def _early_abort(
        self, request: TrialRequest, plan: TrialPlan, trials: Sequence[TrialRecord]
    ) -> EarlyAbort | None:
        """What ends the trial once its verdict is settled; None where it goes on to its end."""
        if not request.judged or not request.early_abort or request.tester_only:
            return None
        return EarlyAbort(
            plan,
            self.session.experiment.criteria_of(request.goal),
            self.bed.ports.drained_by,
            self.bed.ports.queue_frames,
            baseline=_baseline(trials),
        )

    def _watch(
        self,
        abort: EarlyAbort | None,
        recording: TrialRecorder,
        overseer: TrialOverseer,
        disturbed: TrialDisturbances,
    ) -> Callable[[Interval], bool]:
        """Record and show each interval; stop a trial whose verdict is settled."""

        def watch(interval: Interval) -> bool:
            recording.interval(interval)
            disturbed.interval(interval)
            self.session.listener.interval(interval)
            settled = abort is not None and abort(interval)
            return overseer.interval(interval) or settled

        return watch

    def _causes(
        self, number: int, outcome: Outcome, disturbed: TrialDisturbances, noise: TrialNoise
    ) -> CausesFound | None:
        """What disturbed the trial, as far as the kernel's events and counters tell."""
        run, period = self.session.recorder.run, trial_period(number)

        def counters_of(host: str | None, clock: WallClock) -> Sequence[CounterMove]:
            name = self.bed.observers.local_hostname if host is None else host
            return () if name is None else counter_moves(run, period, name, clock, host)

        return disturbed.explained(number, outcome, counters_of, noise.tasks)

    def _record(self, number: int, request: TrialRequest, ended: _EndedTrial) -> TrialRecord:
        outcome = ended.outcome
        blame = None if ended.causes is None else _loss_blame(ended.causes)
        seen_ns = {} if ended.causes is None else on_tester_cpus_ns(ended.causes.explanations)
        shared = shared_cpu(ended.schedule, seen_ns)
        judgements = (
            self._judge(request, outcome, ended.overseen, blame, shared) if request.judged else {}
        )
        judgement = judgements.get(request.goal or ONLY_GOAL)
        record = TrialRecord.from_report(
            TrialIdentity(
                number,
                request.phase,
                attempt=request.attempt,
                goal=request.goal,
                repetition=request.repetition,
                step=request.step,
            ),
            replace(outcome.plan, duration_s=request.duration_s),
            outcome.report,
            lost={stream.stream: outcome.lost(stream.stream) for stream in outcome.plan.streams},
            longest=outcome.longest,
            context=self._context(request, ended, blame),
        )
        if judgement is None:
            return record
        goals = {name: _goal_verdict(each) for name, each in judgements.items()}
        return record.judged(judgement.verdict, judgement.findings, goals)

    def _context(
        self, request: TrialRequest, ended: _EndedTrial, blame: LossBlameRecord | None
    ) -> TrialContext:
        outcome = ended.outcome
        return TrialContext(
            dut=_dut_records(outcome),
            evidence=evidence_of(outcome, disturbances_of(outcome, ended.causes)),
            observed=request.observe(outcome) if request.observe else {},
            hosts=self.bed.observers.readings,
            own=outcome.own,
            loss_blame=blame,
            schedule=ended.schedule,
            offered=ended.offered,
            noise=ended.noise,
            hops=outcome.dut_sight.hops,
            clock_steps=outcome.clock_steps,
            counters=counter_sums(outcome) or None,
        )

    def _limits(self, phase: TrialPhase) -> TesterLimits:
        """What states a load, or holds it for hours, is looked at more closely."""
        limits = self.session.experiment.tester
        return limits.of_validation() if phase in ("validation", "soak") else limits

    def _judge(
        self,
        request: TrialRequest,
        outcome: Outcome,
        overseen: Sequence[Finding],
        blame: LossBlameRecord | None,
        shared: Sequence[Finding],
    ) -> Mapping[str, Judgement]:
        """By goal; a trial that is for no goal is judged by the experiment's own criteria."""
        experiment = self.session.experiment
        goals: Mapping[str, Sequence[Criterion]] = experiment.goals
        if request.goal is None:
            goals = {ONLY_GOAL: () if request.tester_only else experiment.criteria}
        judgements = dict(judge_goals(outcome, goals, self._limits(request.phase)))
        # An overseer looks at the trial's own goal alone.
        own = request.goal or ONLY_GOAL
        judgements[own] = judgements[own].joined_by(overseen)
        return {
            goal: without_tester_losses(judgement, outcome, goals[goal], blame).spoiled_by(shared)
            for goal, judgement in judgements.items()
        }


def _loss_blame(found: CausesFound) -> LossBlameRecord | None:
    blame = loss_blame(found.explanations)
    if not blame.frames:
        return None
    said = limit_sentence(summarise([found.record], found.record.spikes_from_ns))
    return LossBlameRecord(
        tester=blame.tester, platform=blame.platform, unseen=blame.unseen, sentence=said
    )


def _with_comparisons(
    outcome: Outcome, request: TrialRequest, trials: Sequence[TrialRecord]
) -> Outcome:
    """The outcome with what some criteria hold it against."""
    same = (request.phase, request.load_pps, request.goal)
    earlier = [
        Repetition.of(trial)
        for trial in trials
        if (trial.phase, trial.load_pps, trial.goal) == same
        and trial.verdict in ("pass", "fail")
        and trial.repetition < request.repetition
    ]
    return replace(
        outcome,
        baseline=_baseline(trials),
        earlier=tuple(earlier),
        comes_again=request.comes_again,
    )


def _baseline(trials: Sequence[TrialRecord]) -> Baseline | None:
    """The last that was measured; None where none was."""
    baselines = [each for each in trials if (each.phase, each.verdict) == ("baseline", "pass")]
    return Baseline.of(baselines[-1]) if baselines else None


def _goal_verdict(judgement: Judgement) -> GoalVerdict:
    rules = dict.fromkeys(finding.rule for finding in judgement.reasons)
    return GoalVerdict(verdict=judgement.verdict, rules=tuple(rules))


def _dut_records(outcome: Outcome) -> tuple[DutPortRecord, ...] | None:
    """The DUT's counters over this trial alone."""
    if outcome.dut_before is None or outcome.dut_after is None:
        return None
    return tuple(
        _dut_record(before, after)
        for before, after in zip(outcome.dut_before, outcome.dut_after, strict=True)
    )


def _dut_record(before: DutPortCounters, after: DutPortCounters) -> DutPortRecord:
    return DutPortRecord(
        port=after.port,
        rx_frames=after.rx_frames - before.rx_frames,
        tx_frames=after.tx_frames - before.tx_frames,
        rx_missed=after.rx_missed - before.rx_missed,
        rx_errors=after.rx_errors - before.rx_errors,
        tx_errors=after.tx_errors - before.tx_errors,
        rx_no_mbuf=after.rx_no_mbuf - before.rx_no_mbuf,
    )
