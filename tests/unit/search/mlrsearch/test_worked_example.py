"""The worked example of RFC 9971's drafts: four goals and six moments, all at 1 Mpps.

At moments 5 and 6 the drafts print "Lower Bound" for the goal "20% exceed", beside
optimistic exceed ratios of 42.857 % and 27.273 %. By their own rule a load whose
optimistic exceed ratio is larger than the goal's, here 20 %, is an upper bound; the
authors' library says so too, and so do we. The throughput of 999 kfps that they compute
for this goal afterwards follows from its rule, though the load is no lower bound.
"""

import pytest

from plimsoll.search.mlrsearch.classification import TrialResult, classify, conditional_throughput
from plimsoll.search.mlrsearch.goal import Goal
from tests.unit.search.mlrsearch.goals import goal, trials
from tests.unit.search.mlrsearch.oracle import OFFERED, Trial, opinion

RFC2544 = goal("RFC2544", final_s=60, sum_s=60, exceed=0)
TST009 = goal("TST009", final_s=60, sum_s=120, exceed=0.5)
ONE_SECOND = goal("1s final", final_s=1, sum_s=120, exceed=0.5)
EXCEED_20 = goal("20% exceed", final_s=60, sum_s=60, exceed=0.2)
# By goal, the loss ratio that it allows.
ALLOWED = {RFC2544: 0.0, TST009: 0.0, ONE_SECOND: 0.005, EXCEED_20: 0.005}

# How many trials, of how many seconds, that lost which share.
SHORT_GOOD, SHORT_BAD = (1, 0.0), (1, 0.01)
LONG_BAD, LONG_GOOD = (60, 0.001), (60, 0.0)
MOMENTS = [
    {SHORT_GOOD: 59},
    {SHORT_GOOD: 59, SHORT_BAD: 1},
    {SHORT_GOOD: 59, SHORT_BAD: 60},
    {SHORT_GOOD: 60, SHORT_BAD: 60},
    {SHORT_GOOD: 60, SHORT_BAD: 60, LONG_BAD: 1},
    {SHORT_GOOD: 60, SHORT_BAD: 60, LONG_BAD: 1, LONG_GOOD: 1},
]
EXPECTED = {
    RFC2544: ["undecided", "upper", "upper", "upper", "upper", "upper"],
    TST009: ["undecided", "undecided", "undecided", "undecided", "undecided", "lower"],
    ONE_SECOND: ["undecided", "undecided", "undecided", "lower", "lower", "lower"],
    # The drafts print lower bounds for the last two: see above.
    EXCEED_20: ["undecided", "undecided", "upper", "upper", "upper", "upper"],
}


def _at(moment: int, asked: Goal) -> list[TrialResult]:
    return [
        trial
        for (duration_s, lost), count in MOMENTS[moment - 1].items()
        for trial in trials(count, duration_s, lost, ALLOWED[asked])
    ]


@pytest.mark.parametrize("moment", range(1, 7))
@pytest.mark.parametrize("asked", EXPECTED, ids=lambda asked: asked.name)
def test_classes(asked: Goal, moment: int) -> None:
    assert classify(asked, _at(moment, asked)) == EXPECTED[asked][moment - 1]


@pytest.mark.parametrize("moment", [5, 6])
def test_the_authors_library_contradicts_the_example_too(moment: int) -> None:
    measured = [
        Trial(0, duration_s, round(lost * OFFERED))
        for (duration_s, lost), count in MOMENTS[moment - 1].items()
        for _ in range(count)
    ]
    assert opinion(EXCEED_20, ALLOWED[EXCEED_20], measured).estimates == {0: (False, False)}


@pytest.mark.parametrize(
    ("asked", "expected_pps"), [(TST009, 1e6), (ONE_SECOND, 1e6), (EXCEED_20, 999e3)]
)
def test_conditional_throughput(asked: Goal, expected_pps: float) -> None:
    assert conditional_throughput(asked, 1e6, _at(6, asked)) == pytest.approx(expected_pps)
