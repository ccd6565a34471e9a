"""Which absence of the DUT's loop a latency peak was."""

from __future__ import annotations

from plimsoll.search.load_line.stalls.cause import StallCause
from plimsoll.search.load_line.stalls.stalls_seen import stalls_of
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.disturbed import Times, disturbance, with_disturbances
from tests.unit.search.load_line.trials import tried

MS = 1e-3
JAVA = StallCause("task", "java", 1)


def _peak_of_4_ms(**by_name: Times) -> Tried:
    """A peak of 4 ms in the third second of ten."""
    found = tuple(disturbance(name, times) for name, times in by_name.items())
    return with_disturbances(tried(1e5, 10, peaks_ns={2: 4_000_000}), found)


def _cause(trial: Tried) -> StallCause | None:
    (stall,) = stalls_of(trial)
    return stall.cause


def test_an_absence_of_that_second_and_length_is_the_cause() -> None:
    assert _cause(_peak_of_4_ms(java=[(2.5, 4 * MS)])) == JAVA


def test_its_frames_may_come_in_the_second_after() -> None:
    assert _cause(_peak_of_4_ms(java=[(1.995, 4 * MS)])) == JAVA


def test_one_of_another_second_is_not() -> None:
    assert _cause(_peak_of_4_ms(java=[(1.5, 4 * MS), (3.1, 4 * MS)])) is None


def test_one_too_short_or_too_long_is_not() -> None:
    assert _cause(_peak_of_4_ms(java=[(2.5, 1.9 * MS)], perl=[(2.2, 8.1 * MS)])) is None


def test_of_two_the_one_that_is_more_alike_is_the_cause() -> None:
    cause = _cause(_peak_of_4_ms(java=[(2.5, 3.9 * MS)], perl=[(2.2, 5 * MS)]))
    assert cause == JAVA


def test_without_a_trace_no_stall_has_a_cause() -> None:
    assert _cause(_peak_of_4_ms()) is None


def test_a_cause_is_named_with_the_cpu_that_it_took() -> None:
    assert JAVA.text == "java on CPU 1"
    assert StallCause("hardware", "an SMI", None).text == "an SMI"
