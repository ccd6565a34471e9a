"""The figures of runs over releases: their levels, where these change, and what else did then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import Literal

from plimsoll.analysis.comparison.changes import Change, changes_between, grouped
from plimsoll.analysis.comparison.conclude import (
    SAME_WITHIN,
    FigureSample,
    Shift,
    conclude,
    same_within,
    shift,
)
from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.comparison.trend.change_points import FEWEST_RUNS, ChangePoint, change_points
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.methods.method import Better, RunFigure
from plimsoll.record.results.conclusion import ConclusionKind
from plimsoll.text.counted import counted, natural_order
from plimsoll.text.mistakes import did_you_mean

NewestJudgement = Literal["better", "worse", "no change seen", "cannot tell"]
# Of each of two parts of a trend, for an interval of their difference that says something.
_RUNS_OF_PART = 4


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A change of level. `release` is the place of the first one at the new level.

    `shift` is what the stretch from there to the next change has more than the stretch before
    it, in the figure's unit; `before` and `after` are their medians. `p` is the chance that
    runs without a change would show as much. `first_run` is the first at the new level.
    """

    release: int
    p: float
    shift: Shift
    before: float
    after: float
    judgement: Literal["better", "worse"]
    first_run: RunEntry


@dataclass(frozen=True, slots=True)
class FigureTrend:
    """One figure. `values` are of each release's runs that have it, by release; some have none.

    `within` is the share that counts as no difference.
    """

    name: str
    unit: str
    better: Better
    values: tuple[tuple[float, ...], ...]
    changes: tuple[LevelChange, ...]
    within: float = SAME_WITHIN

    @property
    def kind(self) -> ConclusionKind:
        """What can be said of the newest level: a change not seen may still be one.

        The same within `within` where no release's median is further off that of all runs, and
        the interval of no two parts, before a release and from it on, reaches further.
        """
        if self.changes:
            return self.changes[-1].judgement
        return "same" if self.newest == "no change seen" and self._is_level() else "cannot tell"

    def _is_level(self) -> bool:
        known = [each for each in self.values if each]
        middle = median(chain.from_iterable(known))
        bound = self.within * abs(middle)
        if any(abs(median(each) - middle) > bound for each in known):
            return False
        parts = (
            [tuple(chain.from_iterable(each)) for each in (known[:place], known[place:])]
            for place in range(1, len(known))
        )
        found = [
            conclude(FigureSample(before), FigureSample(after), self.better, self.within).kind
            for before, after in parts
            if min(len(before), len(after)) >= _RUNS_OF_PART
        ]
        return bool(found) and all(each == "same" for each in found)

    @property
    def runs(self) -> int:
        """How many values there are."""
        return sum(map(len, self.values))

    @property
    def newest(self) -> NewestJudgement:
        """Of the level of the newest releases, against the level before it."""
        if self.changes:
            return self.changes[-1].judgement
        known = sum(map(bool, self.values))
        return "cannot tell" if self.runs < FEWEST_RUNS or known < 2 else "no change seen"

    @property
    def stretches(self) -> tuple[tuple[int, int], ...]:
        """The places of releases between which the level is one: from each, up to the other."""
        starts = (change.release for change in self.changes)
        return tuple(pairwise((0, *starts, len(self.values))))

    def level(self, begin: int, end: int) -> float | None:
        """The median of all runs of these releases; None without any."""
        values = list(chain.from_iterable(self.values[begin:end]))
        return median(values) if values else None


@dataclass(frozen=True, slots=True)
class ReleaseChanges:
    """Facts that no run of the stretch before a release shares with any of the stretch from it."""

    release: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """Releases in order, and their figures: the first is what the runs were made for.

    `facts` are of each release at which the first figure changes.
    """

    releases: tuple[Side, ...]
    figures: tuple[FigureTrend, ...]
    facts: tuple[ReleaseChanges, ...]


def trend(releases: Sequence[Side], figures: Sequence[str] = ()) -> Trend:
    """Look for changes of each figure, or of those named, which then come in that order.

    Raises InputError for runs of different methods and for a figure that none has, RecordError
    for a damaged record, and MachineError where ruptures is not installed.
    """
    _check_methods(releases)
    names = list(dict.fromkeys(chain.from_iterable(_names(side) for side in releases)))
    if not names:
        raise InputError(
            "have no figure to follow",
            where=f"{releases[0].label} to {releases[-1].label}",
            remedy="plimsoll runs show says what came of each run",
        )
    for name in figures:
        if name not in names:
            raise InputError(
                f"no run has a figure {name!r}",
                where="--figure",
                remedy=did_you_mean(name, names, f"use one of {', '.join(names)}"),
            )
    # The newest release's, of which the trend is to tell.
    within = same_within([releases[-1].runs[0].run.experiment])
    followed = tuple(_followed(name, releases, within) for name in figures or names)
    return Trend(tuple(releases), followed, tuple(_facts(followed[0], releases)))


def _check_methods(releases: Sequence[Side]) -> None:
    methods = {method for side in releases for method in side.methods}
    if len(methods) > 1:
        raise InputError(
            f"were measured by different methods: {', '.join(sorted(methods))}",
            where=f"{releases[0].label} to {releases[-1].label}",
            remedy="choose the runs of one by --method",
        )


def _names(side: Side) -> Iterator[str]:
    return chain.from_iterable(side.figures)


def _followed(name: str, releases: Sequence[Side], within: float) -> FigureTrend:
    known = [[run[name] for run in side.figures if name in run] for side in releases]
    values = tuple(tuple(each.value for each in figures) for figures in known)
    like = next(chain.from_iterable(known))
    return FigureTrend(
        name, like.unit, like.better, values, tuple(_changes(values, like, releases)), within
    )


def _changes(
    values: Sequence[Sequence[float]], like: RunFigure, releases: Sequence[Side]
) -> Iterator[LevelChange]:
    """Those whose 95 % interval, too, leaves out that there is none."""
    places = [place for place, of_release in enumerate(values) if of_release]
    series = [values[place] for place in places]
    kept = _certain(series, change_points(series))
    sign = 1 if like.better == "higher" else -1
    for point, before, after in _with_stretches(series, kept):
        off = shift(before, after)
        place = places[point.release]
        yield LevelChange(
            release=place,
            p=point.p,
            shift=off,
            before=median(before),
            after=median(after),
            judgement="better" if off.estimate * sign > 0 else "worse",
            first_run=_first_run(releases[place], like.name),
        )


def _certain(
    series: Sequence[Sequence[float]], points: Sequence[ChangePoint]
) -> Sequence[ChangePoint]:
    """Without those between stretches that do not differ for certain, the least likely first out.

    What is left out joins two stretches, by which others may become more or less certain.
    """
    uncertain = [
        point
        for point, before, after in _with_stretches(series, points)
        if not shift(before, after).is_certain
    ]
    if not uncertain:
        return points
    dropped = max(uncertain, key=lambda each: each.p)
    return _certain(series, [point for point in points if point != dropped])


def _with_stretches(
    series: Sequence[Sequence[float]], points: Sequence[ChangePoint]
) -> Iterator[tuple[ChangePoint, list[float], list[float]]]:
    """Each with the values of the stretch before it and of the one that it begins."""
    starts = [0, *(point.release for point in points), len(series)]
    stretches = [list(chain.from_iterable(series[a:b])) for a, b in pairwise(starts)]
    for point, (before, after) in zip(points, pairwise(stretches), strict=True):
        yield point, before, after


def _first_run(release: Side, figure: str) -> RunEntry:
    return next(
        run for run, known in zip(release.runs, release.figures, strict=True) if figure in known
    )


def _facts(figure: FigureTrend, releases: Sequence[Side]) -> Iterator[ReleaseChanges]:
    for (begin, middle), (_, end) in pairwise(figure.stretches):
        before, after = _joined(releases[begin:middle]), _joined(releases[middle:end])
        found = changes_between([before, after])
        apart = (each for each in found if set(each.values[0]).isdisjoint(each.values[1]))
        yield ReleaseChanges(middle, tuple(apart))


def _joined(releases: Sequence[Side]) -> Side:
    return Side(releases[0].label, tuple(chain.from_iterable(side.runs for side in releases)))


ReleaseOrder = Literal["measured", "name"]


@dataclass(frozen=True, slots=True)
class Releases:
    """At least two, the oldest first. `left_out` is how many runs lack the tag or fact."""

    sides: tuple[Side, ...]
    left_out: int = 0

    @property
    def experiments(self) -> tuple[str, ...]:
        """The names of the experiments that were run, each once."""
        runs = (run for side in self.sides for run in side.runs)
        return tuple(sorted({run.summary.name for run in runs if run.summary}))


def releases_of(runs: Iterable[RunEntry], by: str | None, order: ReleaseOrder) -> Releases:
    """The runs that have come to their end, by their value of `by`; None: each by itself.

    "measured" orders releases by when the first run of each began, "name" by their names, with
    2 before 10. Raises InputError for fewer than two releases.
    """
    finished = sorted(
        (each for each in runs if each.state == "finished"),
        key=lambda each: (each.began_unix_ns or 0, each.run_id),
    )
    sides = grouped(finished, [by]) if by else [Side(run.run_id, (run,)) for run in finished]
    if order == "name":
        sides.sort(key=lambda side: natural_order(side.label))
    if len(sides) < 2:
        raise InputError(
            f"{counted(len(finished), 'run')} that came to an end make "
            f"{counted(len(sides), 'release')}; a trend takes two or more",
            where=f"--by {by}" if by else "plimsoll trend",
            remedy="plimsoll runs lists runs with their tags; plimsoll runs tag adds one",
        )
    return Releases(tuple(sides), len(finished) - sum(len(side.runs) for side in sides))
