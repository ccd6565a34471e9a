"""Counters of 32 bits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.observe.procfs.per_cpu_table import continued


@given(st.integers(0, 2**40), st.integers(0, 2**28 - 1))
def test_a_total_goes_on_through_any_number_of_wraps(total: int, counted: int) -> None:
    assert continued(total, (total + counted) % 2**32) == total + counted


@given(st.integers(0, 2**31), st.integers(0, 2**31 - 1))
def test_what_does_not_wrap_may_count_any_number(total: int, counted: int) -> None:
    assert continued(total, total + counted) == total + counted


@pytest.mark.parametrize("total", [1000, 2**31, 2**32 + 1000, 2**32 - 2**28 - 5])
def test_a_counter_that_was_set_to_zero_is_less_than_before(total: int) -> None:
    assert continued(total, 0) == 0
