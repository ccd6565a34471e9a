"""Packet delay variation, by hand and against the samples themselves."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from plimsoll.generator.histogram import HIGHEST_NS, Histogram
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.registry import CriterionSettings
from plimsoll.trial.outcome.finding import Finding
from tests.unit.trial.trial_builder import PROBE, outcome, samples
from tests.worded.says import Says


def _criterion(**settings: Any) -> Criterion:
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(
        {"kind": "pdv", "quantile": "p99", "at_most": "1us"} | settings
    )
    return criterion


def _finding(criterion: Criterion, latency: Histogram) -> Finding:
    clean = outcome()
    streams = [
        replace(each, latency=latency) if each.stream == PROBE else each
        for each in clean.report.streams
    ]
    (finding,) = criterion.evaluate(outcome(streams=streams))
    return finding


def test_it_is_held_against_the_lowest_latency_of_the_trial(says: Says) -> None:
    """From 101 to 200 ns: 98 ns above the lowest at p99."""
    latency = samples(*range(101, 201))
    kept = _finding(_criterion(at_most="98ns"), latency)
    assert (kept.rule, kept.subject, kept.outcome) == ("pdv-p99", "probe/0-1", "ok")
    assert (kept.value, kept.limit, kept.unit) == (98, 98, "ns")
    broken = _finding(_criterion(at_most="97ns"), latency)
    assert broken.outcome == "fail"
    assert broken.text == says("probe/0-1", "p99", "98", "100", "97")
    assert _finding(_criterion(quantile="p50"), latency).value == 49
    assert _finding(_criterion(quantile="max"), latency).value == 99


@pytest.mark.parametrize(
    ("quantile", "needed"), [("p50", 2), ("p99", 100), ("p99.9", 1000), ("max", 2)]
)
def test_too_few_samples_cannot_be_evaluated(quantile: str, needed: int, says: Says) -> None:
    criterion = _criterion(quantile=quantile)
    assert _finding(criterion, samples(*[50] * needed)).outcome == "ok"
    few = _finding(criterion, samples(*[50] * (needed - 1)))
    assert (few.outcome, few.value) == ("invalid", None)
    assert few.text == says(f"{needed - 1:,}", str(quantile), f"{needed:,}")
    assert _finding(criterion, Histogram()).outcome == "invalid"


def test_without_a_stream_it_cannot_be_evaluated(says: Says) -> None:
    (finding,) = _criterion(stream="absent").evaluate(outcome())
    assert (finding.subject, finding.outcome) == ("trial", "invalid")
    assert finding.text == says("absent")


def test_the_minimum_does_not_vary() -> None:
    with pytest.raises(ValidationError):
        _criterion(quantile="min")


def _histogram(values_ns: list[int]) -> Histogram:
    """As the engine counts, by the hdrhistogram package's buckets."""
    hdr = HdrHistogram(1, HIGHEST_NS, 2)
    for value in values_ns:
        hdr.record_value(value)
    buckets = tuple((index, n) for index, n in enumerate(hdr.counts) if n)
    return Histogram(len(values_ns), sum(values_ns), min(values_ns), max(values_ns), buckets)


@given(
    st.lists(st.integers(300, 5_000_000), min_size=2, max_size=60),
    st.sampled_from([("p50", 0.5), ("max", 1.0)]),
)
def test_it_is_never_low_and_at_most_a_bucket_high(
    values_ns: list[int], quantile: tuple[str, float]
) -> None:
    name, share = quantile
    exact_ns = sorted(values_ns)[ceil(share * len(values_ns)) - 1]
    found = _finding(_criterion(quantile=name), _histogram(values_ns)).value
    assert found is not None
    # A bucket is 1/128 of its latency.
    assert 0 <= found - (exact_ns - min(values_ns)) <= exact_ns / 128
