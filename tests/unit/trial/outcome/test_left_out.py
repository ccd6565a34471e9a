"""Bounds on latency where a stall of the tester touched samples, by hand."""

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

# What nothing touched, well within 200 ns.
FINE = (100, 110, 120) * 40


def _criterion(quantile: str = "max", **more: Any) -> Criterion:
    given = {"kind": "latency", "quantile": quantile, "at_most": "200ns"} | more
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(given)
    return criterion


def _outcome(
    touched: tuple[int, ...],
    longest: tuple[LatencyParts, ...] = (),
    kept: tuple[int, ...] = FINE,
) -> Outcome:
    clean = outcome()
    latency = samples(*kept) if kept else Histogram()
    streams = [
        replace(each, latency=latency, latency_across_stalls=samples(*touched))
        if each.stream == PROBE
        else each
        for each in clean.report.streams
    ]
    return replace(outcome(streams=streams), longest=longest)


def _listed(held_ns: int, frames: int = 1, **changes: Any) -> LatencyParts:
    """A sample of 250 ns of which the DUT certainly held so many."""
    listed = LatencyParts("probe/0-1", frames, True, 250, 250 - held_ns, held_ns, 0, held_ns)
    return replace(listed, **changes)


def _finding(criterion: Criterion, judged: Outcome) -> Finding:
    (finding,) = criterion.evaluate(judged)
    return finding


def test_left_out_samples_within_the_bound_change_nothing() -> None:
    found = _finding(_criterion(), _outcome((150, 200)))
    assert (found.outcome, found.value) == ("ok", 120)


def test_a_left_out_sample_above_the_bound_makes_it_invalid() -> None:
    found = _finding(_criterion(), _outcome((150, 250)))
    assert (found.outcome, found.value, found.limit) == ("invalid", 120, 200)
    assert found.text == (
        "probe/0-1: max latency 120 ns of 120 samples, but 1 of 2 samples that a stall of the "
        "tester touched are above the bound, up to 250 ns; it cannot be attributed; max at "
        "most 200 ns allowed"
    )
    assert judge(_outcome((150, 250)), [_criterion()], TesterLimits()).verdict == "invalid"


def test_it_fails_where_the_dut_certainly_held_a_frame_for_longer() -> None:
    found = _finding(_criterion(), _outcome((250,), (_listed(201),)))
    assert (found.outcome, found.value) == ("fail", 201)
    assert "by the kernel's events the DUT was away for 201 ns of one" in found.text


@pytest.mark.parametrize(
    "listed",
    [
        _listed(200),
        _listed(201, stream="load/0-1"),
        # In the histogram of those that count it is already.
        _listed(201, across_stall=False),
    ],
)
def test_what_the_dut_held_for_no_longer_and_what_others_were_is_no_proof(
    listed: LatencyParts,
) -> None:
    assert _finding(_criterion(), _outcome((250,), (listed,))).outcome == "invalid"


def test_a_bound_that_untouched_samples_break_is_broken_whatever_else() -> None:
    found = _finding(_criterion(), _outcome((250,), kept=(*FINE, 230)))
    assert (found.outcome, found.value) == ("fail", 230)


def test_a_quantile_is_uncertain_only_where_left_out_samples_could_move_it() -> None:
    """p99 of 120 and n more has 1 % of them beyond: of 121 one, of 122 one, not two."""
    bound = _criterion("p99")
    assert _finding(bound, _outcome((250,))).outcome == "ok"
    assert _finding(bound, _outcome((250, 251))).outcome == "invalid"


def test_a_quantile_fails_where_so_many_are_proven() -> None:
    bound, touched = _criterion("p99"), (250, 251)
    assert _finding(bound, _outcome(touched, (_listed(201),))).outcome == "invalid"
    assert _finding(bound, _outcome(touched, (_listed(201, frames=2),))).outcome == "fail"


def test_no_sample_but_left_out_ones() -> None:
    touched = tuple([250] * 100)
    assert _finding(_criterion(), _outcome(touched, kept=())).outcome == "invalid"
    held = (_listed(220),)
    assert _finding(_criterion(), _outcome(touched, held, kept=())).outcome == "fail"
    few = _finding(_criterion("p99"), _outcome(touched[:99], (_listed(220, frames=99),), kept=()))
    assert few.outcome == "invalid"


def test_a_stall_can_only_add_so_a_minimum_is_never_uncertain() -> None:
    assert _finding(_criterion("min"), _outcome((250,))).outcome == "ok"


def test_so_is_the_delay_variation_judged() -> None:
    bound = _criterion(kind="pdv", at_most="130ns")
    assert _finding(bound, _outcome((230,))).outcome == "ok"
    assert _finding(bound, _outcome((231,))).outcome == "invalid"
    held = _finding(bound, _outcome((250,), (_listed(231),)))
    assert (held.outcome, held.value) == ("fail", 131)
