"""Conditions that a run must not fulfil."""

import pytest

from plimsoll.analysis.comparison.gate import parse_condition
from plimsoll.errors import InputError


@pytest.mark.parametrize(
    ("text", "figure", "sign", "limit"),
    [
        ("load_line < 1.5Mpps", "load line", "<", "1.5Mpps"),
        ("load line<=1.5 Mpps", "load line", "<=", "1.5 Mpps"),
        ("  p99.9 > 50us ", "p99.9", ">", "50us"),
        ("p99.9-latency >= 50us", "p99.9", ">=", "50us"),
        ("Loss_Ratio>0", "loss", ">", "0"),
    ],
)
def test_a_condition_is_a_figure_a_sign_and_a_limit(
    text: str, figure: str, sign: str, limit: str
) -> None:
    found = parse_condition(text)
    assert (found.figure, found.sign, found.limit) == (figure, sign, limit)
    assert found.of_baseline is None


def test_a_limit_may_be_a_share_of_the_baseline() -> None:
    assert parse_condition("load_line < 95% of baseline").of_baseline == 0.95
    assert parse_condition("p99 > 110 % of the baseline").of_baseline == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("load_line < 1.5Mpps", "pps per direction", 1_500_000),
        ("p99 > 50us", "ns", 50_000),
        ("loss > 0.002%", "ratio", 2e-5),
        ("load lines < 3", "", 3),
    ],
)
def test_a_limit_is_read_in_the_unit_of_its_figure(text: str, unit: str, value: float) -> None:
    assert parse_condition(text).limit_in(unit) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "load_line",
        "load_line < ",
        "< 5",
        "load_line == 5",
        "load_line < x% of baseline",
        "load_line < -5% of baseline",
        "load_line < inf% of baseline",
        "__import__('os').system('id') < 1",
        "p99 > " + "9" * 300,
    ],
)
def test_what_is_no_condition_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_condition(text)
    assert refusal.value.where == f"--fail-if {text[:200]!r}"
    assert "load_line < 1.5Mpps" in refusal.value.remedy


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("p99 > 50", "ns"),
        ("p99 > 50Mpps", "ns"),
        ("load_line < 5us", "pps per direction"),
        ("load_line < 60%", "pps per direction"),
        ("loss > 0.5", "ratio"),
    ],
)
def test_a_limit_of_another_kind_is_refused(text: str, unit: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_condition(text).limit_in(unit)
    assert refusal.value.where == f"--fail-if '{text}'"
    assert refusal.value.remedy
