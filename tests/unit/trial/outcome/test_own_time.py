"""What Plimsoll's own processes took of the polled CPUs, and what that makes of a trial."""

from dataclasses import replace

import pytest

from plimsoll.generator.interface import CpuTime, ProcessCpuTime
from plimsoll.trial.judging.tester import TesterLimits as Limits
from plimsoll.trial.outcome.own_time import MAIN_THREAD, SelfOverhead
from tests.unit.trial.trial_builder import outcome
from tests.worded.says import Says

CPU_TIME = CpuTime(
    main_thread_ns=4_000_000,
    processes=(
        ProcessCpuTime(10, 9_000_000),
        ProcessCpuTime(11, 7_000_000),
        ProcessCpuTime(12, None),
    ),
)
NAMES = {10: "plimsoll", 11: "observer", 12: "janitor"}


def test_the_share_is_of_all_polled_cpus_together() -> None:
    own = SelfOverhead.of(CPU_TIME, NAMES, main_thread=True, polled_cpus=2, sending_s=5.0)
    # 20 ms of two CPUs in 5 s.
    assert own.share == pytest.approx(0.002)
    assert own.cpu_ns == {
        MAIN_THREAD: 4_000_000,
        "plimsoll": 9_000_000,
        "observer": 7_000_000,
        "janitor": None,
    }


def test_only_those_that_may_run_there_count() -> None:
    own = SelfOverhead.of(
        CPU_TIME, {11: "observer"}, main_thread=False, polled_cpus=4, sending_s=1.0
    )
    assert own.cpu_ns == {"observer": 7_000_000}
    assert own.share == pytest.approx(0.00175)


def test_a_trial_that_never_sent_has_no_share() -> None:
    own = SelfOverhead.of(CPU_TIME, NAMES, main_thread=True, polled_cpus=2, sending_s=0.0)
    assert own.share == 0.0
    assert [
        f for f in Limits().findings(replace(outcome(), own=own)) if f.rule == "own-share"
    ] == []


@pytest.mark.parametrize(("share", "fit"), [(0.0099, True), (0.0101, False)])
def test_a_tester_that_disturbs_itself_is_unfit(share: float, fit: bool, says: Says) -> None:
    taken_ns = round(share * 2 * 5e9)
    own = SelfOverhead({"plimsoll": taken_ns - 1_000_000, "observer": 1_000_000}, 2, 5.0)
    judged = replace(outcome(), own=own)
    (finding,) = (f for f in Limits().findings(judged) if f.rule == "own-share")
    assert finding.outcome == ("ok" if fit else "invalid")
    assert finding.value == pytest.approx(share)
    if not fit:
        assert finding.text == says("1.01", "2", "plimsoll", "100", "observer")


def test_without_polled_cpus_there_is_nothing_to_say() -> None:
    assert [f for f in Limits().findings(outcome()) if f.rule == "own-share"] == []
