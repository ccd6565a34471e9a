"""kube-burner's semantics of churn."""

import random

import pytest

from plimsoll.churn.driver.driver import ChurnPlan, TokenBucket


def plan(iterations: int = 10, percent: float = 50, cycles: int = 0) -> ChurnPlan:
    return ChurnPlan(
        iterations, percent, duration_s=60, cycles=cycles, delay_s=1, deletion_delay_s=0
    )


@pytest.mark.parametrize(
    ("iterations", "percent", "expected"),
    [(10, 50, 5), (10, 100, 10), (115, 10, 11), (3, 10, 1), (4, 99, 3), (10, 0, 0), (3, 0.5, 1)],
)
def test_how_many_are_churned(iterations: int, percent: float, expected: int) -> None:
    # max(int(percent · N / 100), 1), and a true 0 %.
    assert plan(iterations, percent).churned == expected


def test_windows_are_contiguous_and_reach_both_ends() -> None:
    chance = random.Random(1)  # noqa: S311
    windows = [plan(10, 30).window(chance) for _ in range(200)]
    assert {len(window) for window in windows} == {3}
    assert {window[0] for window in windows} == set(range(8))


def test_all_of_them_have_one_window() -> None:
    assert list(plan(4, 100).window(random.Random(2))) == [0, 1, 2, 3]  # noqa: S311


def test_cycles_go_on_until_the_time_or_their_number_is_over() -> None:
    assert plan().goes_on(cycles_done=99, since_s=59.9)
    assert not plan().goes_on(cycles_done=1, since_s=60)
    assert plan(cycles=2).goes_on(cycles_done=1, since_s=1)
    assert not plan(cycles=2).goes_on(cycles_done=2, since_s=1)
    assert not plan(percent=0).goes_on(cycles_done=0, since_s=0)


def test_a_bucket_lets_a_burst_go_and_then_so_many_a_second() -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    bucket = TokenBucket(qps=10, burst=3, clock=lambda: now[0], sleep=sleep)
    for _ in range(5):
        bucket.take()
    # Three at once, then one each tenth of a second.
    assert slept == [pytest.approx(0.1), pytest.approx(0.1)]
    now[0] += 100
    slept.clear()
    for _ in range(4):
        bucket.take()
    # However long it rests, no more than the burst goes at once.
    assert slept == [pytest.approx(0.1)]
