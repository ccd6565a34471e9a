"""Bounds on latency where stalls of the tester may have delayed samples, by hand."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from plimsoll.attribution.explanation.latency_parts import LatencyParts
from plimsoll.generator.histogram import Histogram
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.verdict import judge
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import PROBE, outcome, samples
from tests.worded.says import Says

# What no stall can have delayed, well within 200 ns.
FINE = (100, 110, 120) * 40


def _criterion(quantile: str = "max", **more: Any) -> Criterion:
    given = {"kind": "latency", "quantile": quantile, "at_most": "200ns"} | more
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(given)
    return criterion


def _outcome(
    delayed: tuple[int, ...],
    longest: tuple[LatencyParts, ...] = (),
    exact: tuple[int, ...] = FINE,
    less: tuple[int, ...] = (),
) -> Outcome:
    """Samples that stalls may have delayed, as measured and, where known, `less` what they took."""
    clean = outcome()
    changes = {
        "latency": samples(*exact) if exact else Histogram(),
        "latency_across_stalls": samples(*delayed),
        "latency_less_stalls": samples(*less) if less else Histogram(),
    }
    streams = [
        replace(each, **changes) if each.stream == PROBE else each for each in clean.report.streams
    ]
    return replace(outcome(streams=streams), longest=longest)


def _listed(held_ns: int, frames: int = 1, **changes: Any) -> LatencyParts:
    """A sample of 250 ns of which the DUT certainly held so many."""
    listed = LatencyParts("probe/0-1", frames, True, 250, 250 - held_ns, held_ns, 0, held_ns)
    return replace(listed, **changes)


def _finding(criterion: Criterion, judged: Outcome) -> Finding:
    (finding,) = criterion.evaluate(judged)
    return finding


def test_a_bound_that_the_high_ends_keep_is_kept(says: Says) -> None:
    found = _finding(_criterion(), _outcome((150, 200), less=(140, 190)))
    assert (found.outcome, found.value, found.undecided) == ("ok", 200, False)
    assert found.text == says("190", "200", "122")


def test_a_bound_that_the_low_ends_break_is_broken() -> None:
    """Today's own fault: a DUT that held a frame for long while a tick of 1 ns came and went."""
    found = _finding(_criterion(), _outcome((250,), less=(249,)))
    assert (found.outcome, found.value) == ("fail", 249)
    assert judge(_outcome((250,), less=(249,)), [_criterion()], TesterLimits()).verdict == "fail"


def test_a_bound_between_both_ends_is_undecided_and_names_the_stalls(says: Says) -> None:
    judged = _outcome((150, 250), less=(150, 180))
    found = _finding(_criterion(), judged)
    assert (found.outcome, found.value, found.limit) == ("invalid", 250, 200)
    assert found.undecided
    assert found.text == says("180", "250", "122", "2")
    assert judge(judged, [_criterion()], TesterLimits()).verdict == "invalid"
    stalled = replace(judged.report.workers[0], cpu=3, stalls=12, worst_stall_ns=5_800_000)
    report = replace(judged.report, workers=(stalled,))
    named = _finding(_criterion(), replace(judged, report=report))
    assert named.text == says("3", "12", "5.8")


def test_without_low_ends_a_sample_may_be_no_ns_of_the_duts() -> None:
    found = _finding(_criterion(), _outcome((150, 250)))
    assert (found.outcome, found.undecided) == ("invalid", True)


def test_a_quantile_counts_low_ends_for_a_failure_and_high_ends_for_a_pass() -> None:
    """p99 of 122: 121 must keep the bound, and two that do not break it."""
    bound = _criterion("p99")
    assert _finding(bound, _outcome((250, 251), less=(249, 250))).outcome == "fail"
    assert _finding(bound, _outcome((250, 251), less=(249, 190))).outcome == "invalid"
    assert _finding(bound, _outcome((250, 190), less=(249, 10))).outcome == "ok"


def test_samples_that_may_have_been_delayed_count_as_samples(says: Says) -> None:
    bound = _criterion("p99")
    delayed = tuple([150] * 100)
    found = _finding(bound, _outcome(delayed, exact=(), less=delayed))
    assert (found.outcome, found.value) == ("ok", 150)
    assert _finding(bound, _outcome(delayed[:99], exact=(), less=delayed[:99])).text == says(
        "probe/0-1", "99"
    )


def test_it_fails_where_the_dut_certainly_held_a_frame_for_longer(says: Says) -> None:
    found = _finding(_criterion(), _outcome((250,), (_listed(201),)))
    assert (found.outcome, found.value) == ("fail", 201)
    assert found.text == says("201")


@pytest.mark.parametrize(
    "listed",
    [
        _listed(200),
        _listed(201, stream="load/0-1"),
        # In the histogram of those that are exact it is already.
        _listed(201, across_stall=False),
    ],
)
def test_what_the_dut_held_for_no_longer_and_what_others_were_is_no_proof(
    listed: LatencyParts,
) -> None:
    assert _finding(_criterion(), _outcome((250,), (listed,))).outcome == "invalid"


def test_a_bound_that_exact_samples_break_is_broken_whatever_else() -> None:
    found = _finding(_criterion(), _outcome((250,), exact=(*FINE, 230)))
    assert (found.outcome, found.value) == ("fail", 230)


def test_a_quantile_is_uncertain_only_where_delayed_samples_could_move_it() -> None:
    """p99 of 120 and n more has 1 % of them beyond: of 121 one, of 122 one, not two."""
    bound = _criterion("p99")
    assert _finding(bound, _outcome((250,))).outcome == "ok"
    assert _finding(bound, _outcome((250, 251))).outcome == "invalid"


def test_a_quantile_fails_where_so_many_are_proven() -> None:
    bound, delayed = _criterion("p99"), (250, 251)
    assert _finding(bound, _outcome(delayed, (_listed(201),))).outcome == "invalid"
    assert _finding(bound, _outcome(delayed, (_listed(201, frames=2),))).outcome == "fail"
    # One that is proven by its low end already is not counted twice.
    once = _outcome(delayed, (_listed(201),), less=(240, 0))
    assert _finding(bound, once).outcome == "invalid"


def test_no_sample_but_delayed_ones() -> None:
    delayed = tuple([250] * 100)
    assert _finding(_criterion(), _outcome(delayed, exact=())).outcome == "invalid"
    held = (_listed(220),)
    assert _finding(_criterion(), _outcome(delayed, held, exact=())).outcome == "fail"
    few = _finding(_criterion("p99"), _outcome(delayed[:99], (_listed(220, frames=99),), exact=()))
    assert few.outcome == "invalid"


def test_a_stall_can_only_add_so_a_minimum_is_never_uncertain() -> None:
    assert _finding(_criterion("min"), _outcome((250,))).outcome == "ok"


def test_so_is_the_delay_variation_judged() -> None:
    """Less the lowest of the exact samples, 100 ns."""
    bound = _criterion(kind="pdv", at_most="130ns")
    assert _finding(bound, _outcome((230,))).outcome == "ok"
    undecided = _finding(bound, _outcome((231,), less=(230,)))
    assert (undecided.outcome, undecided.undecided) == ("invalid", True)
    broken = _finding(bound, _outcome((250,), less=(231,)))
    assert (broken.outcome, broken.value) == ("fail", 131)
    held = _finding(bound, _outcome((250,), (_listed(231),)))
    assert (held.outcome, held.value) == ("fail", 131)
