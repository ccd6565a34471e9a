"""Quantities. Values by the grammar in k8s.io/apimachinery, pkg/api/resource/quantity.go."""

from fractions import Fraction
from typing import Any

import pytest

from plimsoll.tune.kubernetes.kube_object import parse_quantity
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        ("4", Fraction(4)),
        (4, Fraction(4)),
        (0.5, Fraction(1, 2)),
        ("500m", Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        ("1.", Fraction(1)),
        ("2Ki", Fraction(2048)),
        ("16Gi", Fraction(17179869184)),
        ("1k", Fraction(1000)),
        ("1E", Fraction(10**18)),
        ("1e3", Fraction(1000)),
        ("1E2", Fraction(100)),
        ("15u", Fraction(15, 10**6)),
        ("-1", Fraction(-1)),
    ],
)
def test_amounts(given: Any, amount: Fraction) -> None:
    assert parse_quantity(given) == amount


@pytest.mark.parametrize(
    "given", ["", "Gi", "1 Gi", "1GiB", "1KI", "0x10", "1e999", "9" * 99, "٣", None, True, [], {}]
)
def test_what_is_no_quantity(given: Any, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        parse_quantity(given)
    assert caught.value == says()
