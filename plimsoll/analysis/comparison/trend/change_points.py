"""Where the level of a series changes, by a permutation test: no distribution assumed.

The best division of a stretch into two and into three parts, of least squares about the parts'
means, comes from ruptures (KernelCPD: Celisse, Marot, Pierre-Jean and Rigaill, "New efficient
algorithms for multiple change-point detection with reproducing kernels", CSDA 128, 2018). Three
parts are tried as well because a step down and up again hardly moves the means of any two.

Whether a division explains more than chance would, the runs themselves say: their values are
dealt out to the releases anew, and each such series gets its own best divisions. The smaller of
the two divisions' p-values is held against the same of the shuffled series (Westfall and Young,
Resampling-Based Multiple Testing, 1993, section 2.3), so that looking at every place, and for
both kinds of change, is paid for. A stretch that is divided is followed by its parts, each
with a test of its own (as in Matteson and James, "A nonparametric approach for multiple change
point analysis of multivariate data", JASA 109, 2014), at half of LEVEL.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.extras import added_by

# The chance that a series without a change is said to have one, and that one with a change is
# said to have another: its two parts have a test each.
LEVEL = 0.01
_LEVEL_OF_STRETCH = LEVEL / 2
# Of five and six runs, 2 of 462 orders hold the higher ones together; of fewer it is above that.
FEWEST_RUNS = 11
# The least p is 1 / (1 + this).
_PERMUTATIONS = 4999
# Enough to see that a series is nowhere near LEVEL: most are.
_FIRST_PERMUTATIONS, _HOPELESS = 199, 0.1
# Series that are divided at once: their sums stay in a CPU's cache.
_AT_ONCE = 256
# The same runs give the same answer, each time and everywhere.
_SEED = 20261123
_PARTS = (2, 3)
# Gains that differ by less came from the order of additions.
_DIGITS = 9
# As many standard deviations of a normal distribution is its median absolute deviation.
_DEVIATIONS_OF_MEDIAN = 0.6745
# Huber's bound, wide enough that a step of four standard deviations keeps its size.
_BOUND = 3.0


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """`release` is the place of the first one at the new level.

    `p` is the chance that runs without any change would show as much, by the test of the
    stretch in which it was found.
    """

    release: int
    p: float


@dataclass(frozen=True, slots=True)
class _Division:
    """Where parts begin, as places of releases; the first part's 0 is left out."""

    starts: tuple[int, ...]
    p: float


def change_points(releases: Sequence[Sequence[float]]) -> tuple[ChangePoint, ...]:
    """Of a series of releases in order, each with the values of its runs (at least one).

    Changes lie between releases only, however many runs each has. Raises MachineError where
    ruptures is not installed.
    """
    found: list[ChangePoint] = []
    stretches = [(0, len(releases))]
    while stretches:
        begin, end = stretches.pop()
        division = _division(releases[begin:end])
        if division is not None:
            starts = [begin + start for start in division.starts]
            found += [ChangePoint(start, division.p) for start in starts]
            stretches += pairwise([begin, *starts, end])
    return tuple(sorted(found, key=lambda each: each.release))


def _division(releases: Sequence[Sequence[float]]) -> _Division | None:
    """The one that explains most beyond chance; None where chance may explain it."""
    values = [value for release in releases for value in release]
    if len(releases) < 2 or len(values) < FEWEST_RUNS or len(set(values)) == 1:
        return None
    stretch = _Stretch([len(release) for release in releases], bounded_scores(values))
    if stretch.test(_FIRST_PERMUTATIONS).p > _HOPELESS:
        return None
    division = stretch.test(_PERMUTATIONS)
    return division if division.p <= _LEVEL_OF_STRETCH else None


class _Stretch:
    """Consecutive releases, by how many runs each has, and the scores of all their runs."""

    def __init__(self, sizes: Sequence[int], scores: Sequence[float]) -> None:
        self._numpy, self._ruptures = _libraries()
        self._sizes = sizes
        self._scores = self._numpy.array(scores)
        self._ends = list(accumulate(sizes))
        self._parts = [parts for parts in _PARTS if parts <= len(sizes)]

    def test(self, permutations: int) -> _Division:
        """The best division, and its p by so many shuffled series."""
        divisions = self._divisions()
        gains = [[gain for gain, _ in divisions], *self._gains_by_chance(permutations)]
        chances = [_chances(column) for column in zip(*gains, strict=True)]
        least = [min(row) for row in zip(*chances, strict=True)]
        # Of two that are as unlikely, the one with fewer parts: its parts are looked at next.
        best = next(n for n, column in enumerate(chances) if column[0] == least[0])
        starts = dict.fromkeys(bisect_left(self._ends, run) + 1 for run in divisions[best][1])
        p = sum(each <= least[0] for each in least) / len(least)
        return _Division(tuple(start for start in starts if start < len(self._sizes)), p)

    def _divisions(self) -> list[tuple[float, list[int]]]:
        """The best into each number of parts: what it explains, and the runs at which parts end.

        Every run stands at the mean of its release. Then what a division explains is, as it
        moves through a release, a square over a concave function and so convex: it is greatest
        at one of the release's ends, and the best division never parts the runs of a release.
        """
        np = self._numpy
        levels = np.repeat(self._sums(self._scores) / self._sizes, self._sizes)
        search = self._ruptures.KernelCPD(kernel="linear", min_size=1).fit(levels)
        found = [search.predict(n_bkps=parts - 1) for parts in self._parts]
        before = np.concatenate(([0.0], np.cumsum(levels)))
        return [(_explained(before, ends), ends[:-1]) for ends in found]

    def _gains_by_chance(self, permutations: int) -> list[list[float]]:
        """What the best divisions of so many shuffled series explain.

        Only that: of many series at once numpy says it in a twentieth of the time that
        ruptures takes to find the divisions of one after another.
        """
        np = self._numpy
        generator = np.random.default_rng(_SEED)
        gains: list[list[float]] = []
        for begin in range(0, permutations, _AT_ONCE):
            count = min(_AT_ONCE, permutations - begin)
            shuffled = np.array([generator.permutation(self._scores) for _ in range(count)])
            gains += self._greatest_gains(np.cumsum(self._sums(shuffled), axis=-1)).tolist()
        return gains

    def _greatest_gains(self, sums: Any) -> Any:
        """Of each series, what its best divisions explain; `sums` are those up to each release."""
        np = self._numpy
        ends = np.array(self._ends, dtype=float)
        whole = sums[:, -1:] ** 2 / ends[-1]
        left = sums[:, :-1] ** 2 / ends[:-1]
        right = (sums[:, -1:] - sums[:, :-1]) ** 2 / (ends[-1] - ends[:-1])
        greatest = {2: (left + right).max(axis=1)}
        if 3 in self._parts:
            last = len(ends) - 1
            # By where the first part ends: the best of all places of the second part's end.
            of_three = [
                left[:, first] + self._middle(sums, ends, first, right).max(axis=1)
                for first in range(last - 1)
            ]
            greatest[3] = np.max(of_three, axis=0)
        found = [greatest[parts] - whole[:, 0] for parts in self._parts]
        return np.round(np.stack(found, axis=1), _DIGITS)

    @staticmethod
    def _middle(sums: Any, ends: Any, first: int, right: Any) -> Any:
        """What the second and third part explain, by where the second ends."""
        between = sums[:, first + 1 : -1] - sums[:, first : first + 1]
        return between**2 / (ends[first + 1 : -1] - ends[first]) + right[:, first + 1 :]

    def _sums(self, scores: Any) -> Any:
        """Those of the runs of each release, of one series or of many."""
        return self._numpy.add.reduceat(scores, [0, *self._ends[:-1]], axis=-1)


def _explained(sums: Any, ends: Sequence[int]) -> float:
    """The sum of squares between parts that end there, of values that add up to `sums`."""
    parts = pairwise([0, *ends])
    between = sum((sums[end] - sums[begin]) ** 2 / (end - begin) for begin, end in parts)
    return round(float(between - sums[-1] ** 2 / ends[-1]), _DIGITS)


def _chances(gains: Sequence[float]) -> list[float]:
    """Of each, the share of all that are as great."""
    ordered = sorted(gains)
    return [(len(ordered) - bisect_left(ordered, gain)) / len(ordered) for gain in gains]


def _libraries() -> tuple[Any, Any]:
    try:
        import numpy  # noqa: PLC0415
        import ruptures  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            "change points need the Python package ruptures",
            where="plimsoll trend",
            remedy=added_by("trend"),
        ) from error
    return numpy, ruptures


# Values as what a search for steps can use: on one scale, and none of them too heavy.
def bounded_scores(values: Sequence[float]) -> list[float]:
    """Each value's distance from the median in robust standard deviations, at most 3 either way.

    One run far out then weighs as much as one at three deviations, and no more; ranks would
    not tell a step from noise that happens to lie in order. Where more than half of the values are
    equal (losses: most are 0), every other one is at the bound.
    """
    middle = median(values)
    distances = [value - middle for value in values]
    deviation = median(map(abs, distances)) / _DEVIATIONS_OF_MEDIAN
    if deviation == 0:
        return [_BOUND * ((each > 0) - (each < 0)) for each in distances]
    return [min(max(each / deviation, -_BOUND), _BOUND) for each in distances]
