"""Whether trials at one load repeat."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.generator.histogram import Histogram
from plimsoll.record.trials.trial_parts import TrialIdentity
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from plimsoll.trial.outcome.repetition import ForwardedFrames, Repetition
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PLAN,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    outcome,
    samples,
    stream_counts,
)
from tests.worded.says import Says

SENT = RATE_PPS * DURATION_S


def _criterion(kind: str, **settings: Any) -> Criterion:
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(
        {"kind": kind, "at_most": "5%"} | settings
    )
    return criterion


RATE = _criterion("spread-of-rate")
P99 = _criterion("spread-of-latency", quantile="p99")


def _trial(*, sent: int = SENT, lost: int = 0, p99_ns: int | None = 100) -> Outcome:
    latency = Histogram() if p99_ns is None else samples(*[p99_ns] * 100)
    streams = [
        stream_counts(LOAD_OUT, sent, lost),
        stream_counts(LOAD_BACK, SENT),
        stream_counts(PROBE, PROBE_PPS * DURATION_S, latency=latency),
    ]
    return outcome(streams=streams)


def _after(judged: Outcome, *earlier: Outcome, comes_again: bool = False) -> Outcome:
    repetitions = tuple(each.repetition() for each in earlier)
    return replace(judged, earlier=repetitions, comes_again=comes_again)


def _first(criterion: Criterion, judged: Outcome) -> Finding:
    return criterion.evaluate(judged)[0]


def test_the_first_of_three_is_neither_proof_nor_fault_when_more_will_come(says: Says) -> None:
    found = _first(RATE, _after(_trial(), comes_again=True))
    assert (found.rule, found.subject) == ("spread-of-rate", "0-1")
    assert (found.outcome, found.value, found.limit) == ("ok", None, 0.05)
    assert found.text == says("0-1", "3", "5")


@pytest.mark.parametrize("earlier", [0, 1])
def test_too_few_prove_nothing_when_no_more_will_come(earlier: int, says: Says) -> None:
    for criterion in (RATE, P99):
        found = _first(criterion, _after(_trial(), *[_trial()] * earlier))
        assert found.outcome == "invalid"
        assert found.text == says(str(earlier + 1), "3", "repetitions")


def test_three_that_agree_repeat() -> None:
    """1,010,000 frames with the probe's; 30,300 are 3 % of them, 3.03 % of the mean."""
    found = _first(RATE, _after(_trial(lost=30_300), _trial(), _trial()))
    assert found.outcome == "ok"
    assert found.value == pytest.approx(3 / 99)
    assert [each.subject for each in RATE.evaluate(_after(_trial(), _trial(), _trial()))] == [
        "0-1",
        "1-0",
    ]


def test_two_that_differ_already_do_not_repeat() -> None:
    found = _first(RATE, _after(_trial(lost=101_000), _trial(), comes_again=True))
    assert found.outcome == "fail"
    assert found.value == pytest.approx(0.1 / 0.95)


def test_the_rate_of_a_tester_that_differs_is_not_the_duts(says: Says) -> None:
    found = _first(RATE, _after(_trial(sent=900_000), _trial(), _trial()))
    assert found.outcome == "invalid"
    assert found.text == says("3")
    # The DUT's own part is too much by itself.
    found = _first(RATE, _after(_trial(sent=900_000, lost=90_000), _trial(), _trial()))
    assert found.outcome == "fail"


def test_rates_of_nothing_do_not_repeat_anything() -> None:
    dead = outcome(streams=[stream_counts(each, SENT, lost=SENT) for each in range(3)])
    assert _first(RATE, _after(dead, dead, dead)).outcome == "invalid"


@pytest.mark.parametrize(("p99_ns", "verdict"), [(104, "ok"), (106, "fail")])
def test_a_quantile_repeats_or_not(p99_ns: int, verdict: str) -> None:
    (found,) = P99.evaluate(_after(_trial(p99_ns=p99_ns), _trial(), _trial()))
    assert (found.rule, found.subject) == ("spread-of-latency-p99", "probe/0-1")
    assert found.outcome == verdict
    assert found.value == pytest.approx((p99_ns - 100) / ((200 + p99_ns) / 3))


def test_a_quantile_that_is_missing_cannot_be_compared(says: Says) -> None:
    for trials in ((_trial(p99_ns=None), _trial()), (_trial(), _trial(p99_ns=None))):
        (found,) = P99.evaluate(_after(*trials, comes_again=True))
        assert (found.outcome, found.value) == ("invalid", None)
        assert found.text == says("probe/0-1", "p99", "100")


def test_without_a_stream_there_is_nothing_to_compare(says: Says) -> None:
    absent = _criterion("spread-of-latency", quantile="p99", stream="absent")
    (found,) = absent.evaluate(_trial())
    assert (found.subject, found.outcome) == ("trial", "invalid")
    assert found.text == says("absent")


def test_a_recorded_trial_is_compared_by_the_same_figures() -> None:
    judged = _trial(lost=500)
    lost = {plan.stream: judged.lost(plan.stream) for plan in PLAN.streams}
    record = TrialRecord.from_report(TrialIdentity(1, "validation"), PLAN, judged.report, lost=lost)
    assert Repetition.of(record) == judged.repetition()
    assert judged.repetition().forwarding["0-1"] == ForwardedFrames(1_010_000, 1_009_500, 10.0)
    assert judged.repetition().forwarding["0-1"].forwarded_pps == 100_950
    assert judged.repetition().latency_ns["probe/0-1"] == dict.fromkeys(
        ("min", "p50", "p99", "max"), 100
    )


def test_a_single_trial_is_no_repetition() -> None:
    with pytest.raises(ValidationError):
        _criterion("spread-of-rate", repetitions=1)
