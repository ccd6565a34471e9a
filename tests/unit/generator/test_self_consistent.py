"""The self-consistent estimate against Kaplan and Meier's, by hand, and the plainest way."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from plimsoll.generator.latency_ends import self_consistent


def _found(exact: Iterable[int], *between: tuple[int, int]) -> dict[tuple[int, int], float]:
    masses = self_consistent(Counter(exact), Counter(between))
    assert masses is not None
    assert [each.last for each in masses] == sorted(each.last for each in masses)
    return {(each.first, each.last): each.samples for each in masses}


def test_exact_samples_are_where_they_are() -> None:
    assert _found([3, 1, 3]) == {(1, 1): 1, (3, 3): 2}
    assert self_consistent({}, {}) == ()


def test_samples_that_are_at_least_so_much_are_kaplan_and_meiers() -> None:
    """1, more than 2, 3, more than 4, 5: of five, four and a half of three stay, and so on."""
    found = _found([1, 3, 5], (3, 5), (5, 5))
    # 1/5; 4/5 · 1/3; 4/5 · 2/3.
    assert found == pytest.approx({(1, 1): 1, (3, 3): 4 / 3, (5, 5): 8 / 3})


def test_a_sample_counts_where_the_others_are() -> None:
    """Three of four at 10 and one at 20 are in its interval: it counts so at both."""
    assert _found([10, 10, 10, 20, 50], (5, 30)) == pytest.approx(
        {(10, 10): 3.75, (20, 20): 1.25, (50, 50): 1}
    )


def test_where_no_sample_is_exact_it_lies_where_most_intervals_meet() -> None:
    assert _found([1], (5, 20), (10, 30)) == pytest.approx({(1, 1): 1, (10, 20): 2})
    assert _found([], (0, 9), (0, 9)) == pytest.approx({(0, 9): 2})


def _plainly(
    exact: Mapping[int, int], between: Mapping[tuple[int, int], int], highest: int
) -> list[float]:
    """Each value on its own, by rounds without end: what self-consistency says, and no more."""
    samples = [({value}, n) for value, n in exact.items()]
    samples += [({*range(low, high + 1)}, n) for (low, high), n in between.items()]
    held = [1.0] * (highest + 1)
    for _ in range(600):
        after = [0.0] * (highest + 1)
        for values, n in samples:
            inside = sum(held[value] for value in values)
            for value in values:
                after[value] += n * held[value] / inside
        held = after
    return held


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_each_value_on_its_own_comes_to(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    exact = Counter(chance.randrange(24) for _ in range(chance.randrange(12)))
    ends = [sorted(chance.sample(range(24), 2)) for _ in range(chance.randrange(1, 9))]
    between = Counter((low, high) for low, high in ends)
    plain = _plainly(exact, between, 23)
    masses = self_consistent(exact, between)
    assert masses is not None
    assert sum(each.samples for each in masses) == pytest.approx(exact.total() + between.total())
    for each in masses:
        assert sum(plain[each.first : each.last + 1]) == pytest.approx(each.samples, abs=0.02)


def test_it_is_the_same_each_time() -> None:
    chance = random.Random(1)  # noqa: S311
    exact = Counter(round(chance.lognormvariate(5, 0.4)) for _ in range(2000))
    between = Counter((each, each + chance.randrange(90)) for each in range(0, 600, 3))
    assert self_consistent(exact, between) == self_consistent(exact, between)
