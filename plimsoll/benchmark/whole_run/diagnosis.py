"""What a whole run says of its tester: whether counters agreed, and why trials were invalid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from plimsoll.record.results.result import DutAgreement, TesterDiagnosis
from plimsoll.record.trials.counter_record import DUT_COUNTERS_RULE
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_parts import OtherProcessRecord, ScheduleRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.counted import was
from plimsoll.text.units import format_duration, format_ratio


def dut_agreement_of(trials: Sequence[TrialRecord]) -> DutAgreement | None:
    """Over the judged trials; None where the DUT has no counters to compare with."""
    compared = [
        [finding for finding in trial.findings if finding.rule == DUT_COUNTERS_RULE]
        for trial in trials
    ]
    compared = [findings for findings in compared if findings]
    if not compared:
        return None
    differences = tuple(
        finding.text for findings in compared for finding in findings if finding.outcome != "ok"
    )
    agreeing = sum(all(finding.outcome == "ok" for finding in findings) for findings in compared)
    return DutAgreement(
        trials_compared=len(compared), trials_agreeing=agreeing, differences=differences
    )


# A loop that waits for less of the time is as good as alone.
_WAITED = 0.002
_MAX_NAMED = 3
_NS_PER_S = 1e9
_TESTER = "tester"


def diagnose(trials: Sequence[TrialRecord]) -> TesterDiagnosis | None:
    """What made the run's trials invalid; None where the last that was judged is valid.

    A search that ended for other reasons has a valid trial at its end.
    """
    judged = [trial for trial in trials if trial.verdict != "none"]
    if not judged or judged[-1].verdict != "invalid":
        return None
    invalid = [trial for trial in judged if trial.verdict == "invalid"]
    taken = _taken_cpus([trial.schedule for trial in invalid if trial.schedule is not None])
    rules = Counter(rule for trial in invalid for rule in {each.rule for each in trial.reasons})
    sentences = (*taken, _counted(judged, invalid, rules), _worst(invalid))
    return TesterDiagnosis(sentences=sentences, remedy=_remedy(bool(taken), rules))


def _taken_cpus(schedules: Sequence[ScheduleRecord]) -> tuple[str, ...]:
    """A sentence for each of the tester's CPUs whose loop waited, the longest wait first."""
    watched_ns = sum(schedule.watched_s for schedule in schedules) * _NS_PER_S
    waits: Counter[int] = Counter()
    for schedule in schedules:
        for thread in schedule.threads:
            if thread.process == _TESTER:
                waits[thread.cpu] += thread.wait_ns
    return tuple(
        _taken_cpu(cpu, wait_ns / watched_ns, schedules)
        for cpu, wait_ns in waits.most_common()
        if wait_ns > _WAITED * watched_ns
    )


def _taken_cpu(cpu: int, share: float, schedules: Sequence[ScheduleRecord]) -> str:
    others = _summed(each for s in schedules for each in s.others if each.cpu == cpu)
    waited = f"CPU {cpu}: your polling loop waited {format_ratio(share)} of the time for its CPU"
    if not others:
        return f"{waited}; no process was seen to run there for long"
    return "; ".join([waited, *(_named(other) for other in others[:_MAX_NAMED])])


def _summed(others: Iterable[OtherProcessRecord]) -> list[OtherProcessRecord]:
    """One for each process, the one that ran longest first."""
    by_process: dict[tuple[int, str], OtherProcessRecord] = {}
    for each in others:
        key = (each.pid, each.comm)
        by_process[key] = _sum(by_process[key], each) if key in by_process else each
    return sorted(by_process.values(), key=lambda each: -each.run_ns)


def _sum(one: OtherProcessRecord, other: OtherProcessRecord) -> OtherProcessRecord:
    return one.model_copy(
        update={
            "run_ns": one.run_ns + other.run_ns,
            "slices": one.slices + other.slices,
            "pinned": one.pinned and other.pinned,
        }
    )


def _named(other: OtherProcessRecord) -> str:
    """Only a process that can run nowhere else is known to have run there each time."""
    times = f"{other.slices} times, " if other.slices else ""
    ran = f"{times}for {format_duration(other.run_ns / _NS_PER_S)}"
    if other.pinned:
        return f"{other.comm} (pid {other.pid}) ran there {ran}"
    return f"{other.comm} (pid {other.pid}), last seen there, ran {ran} in all"


def _counted(
    judged: Sequence[TrialRecord], invalid: Sequence[TrialRecord], rules: Counter[str]
) -> str:
    by_rule = ", ".join(f"{times} by {rule}" for rule, times in rules.most_common())
    return f"{len(invalid)} of {len(judged)} judged trials {was(len(invalid))} invalid: {by_rule}"


def _worst(invalid: Sequence[TrialRecord]) -> str:
    """The finding that is furthest beyond its limit."""
    worst = max((each for trial in invalid for each in trial.reasons), key=_excess)
    return f"the worst: {worst.text}"


def _excess(finding: FindingRecord) -> float:
    if finding.value is None or not finding.limit:
        return 0.0
    return finding.value / finding.limit


def _remedy(taken: bool, rules: Counter[str]) -> str:
    if taken:
        return (
            "stop what runs there, give Plimsoll other CPUs (generator.cpus, and the lab's), "
            "or isolate them (plimsoll tune audit)"
        )
    if rules["stall"] or rules["stalled-share"] or rules["late-probes"]:
        return (
            "no process took the tester's CPUs, so look at interrupts and at the hypervisor "
            "(plimsoll tune audit), or give the tester other CPUs (generator.cpus)"
        )
    if rules["offered-rate"]:
        return (
            "no process took the tester's CPUs: give it more of them (generator.cpus), or search "
            "lower loads (search.minimum)"
        )
    return "do what the worst finding says, and run again"
