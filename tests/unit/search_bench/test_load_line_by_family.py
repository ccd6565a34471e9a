"""The load-line search on single DUTs, of which each once showed a fault of it."""

from __future__ import annotations

import pytest

from benchmarks.search.experience import experience
from benchmarks.search.subjects import subject_of


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 4])
def test_a_dut_that_stays_collapsed_is_given_the_time_to_recover(seed: int) -> None:
    """For 10 and for 25 s; the second collapses in a validation as well, and in a burst."""
    found = experience(subject_of("hysteresis", seed), "load-line", seed)
    assert found.load_pps is not None
    assert found.sustainable_pps is not None
    assert found.load_pps > 0.99 * found.sustainable_pps
    assert found.survived


@pytest.mark.full
def test_a_dut_that_serves_on_while_its_cpu_is_shared_carries_more_than_its_stalls_say() -> None:
    """Where stalls were taken to be as long at any load, it ended at 0.67."""
    found = experience(subject_of("noisy-neighbour", 3), "load-line", 3)
    assert found.load_pps is not None
    assert found.sustainable_pps is not None
    assert found.load_pps > 0.9 * found.sustainable_pps
