"""How likely a load keeps to the loss that its goal allows, by the absences that were seen.

What absences lose together is a compound sum of max(0, load x length + backlog - buffer). Its
parameters are uncertain, so several sets of them are kept, each with its weight. A load is
forecast to last by the rule for no loss: once it has passed a validation, it passes another with
the confidence asked for, and it passes the first with a probability of a half at least.

How the losses of absences are spread over directions, each of which has the limit for itself.
Peaks are those of all directions together. Where an absence is one of all directions at once, as
where one loop serves all, each loses by every peak; else each has a part of the absences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist

from ..stalls.load_growth import LoadGrowth
from ..stalls.stalls_seen import SeenStall
from ..tried import Tried
from .backlog import Backlog, backlog_of
from .compound import CompoundSum, Cumulants, LosingEvents
from .spectrum import Absences, Spectrum, WatchedTrial

# Of what came, a loss that is smaller does not tell one direction from several.
_TELLING = 0.03
# Directions that are alike differ in what they lost by chance alone, in so many deviations.
_BY_CHANCE = 1.5


@dataclass(frozen=True, slots=True)
class Directions:
    """Each direction's share of the absences, the largest first.

    Where `together` is true an absence hits all directions at once, and every share is 1.
    """

    shares: tuple[float, ...]
    together: bool

    @property
    def hit(self) -> float:
        """How many directions an absence is one of, in the mean."""
        return sum(self.shares)


def directions_of(
    trials: Sequence[Tried], overflowed: Iterable[SeenStall], buffer: float
) -> Directions:
    """Judged by the stalls that overflowed the buffer; without any, the worst case: together."""
    count = max((_count(each) for each in trials), default=1)
    if count == 1:
        return Directions((1.0,), together=True)
    votes = [_is_of_one(stall, count, buffer) for stall in overflowed]
    known = [each for each in votes if each is not None]
    if not known or 2 * sum(known) < len(known):
        return Directions((1.0,) * count, together=True)
    worst = _worst_share(trials, len(known), count)
    return Directions((worst, *[(1.0 - worst) / (count - 1)] * (count - 1)), together=False)


def worst_lost(trials: Sequence[Tried]) -> float | None:
    """The worst direction's share of the frames lost in all trials; None where none were."""
    lost = sum(each.evidence.lost for each in trials)
    if not lost:
        return None
    return sum(each.evidence.lost * each.worst_direction_share for each in trials) / lost


def _count(tried: Tried) -> int:
    """The number of directions, from the frames offered to all of them."""
    evidence = tried.evidence
    return max(1, round(evidence.offered / max(1.0, tried.load_pps * evidence.sending_s)))


def _is_of_one(stall: SeenStall, count: int, buffer: float) -> bool | None:
    """Whether one direction alone lost its frames; None where that makes no difference."""
    beyond = stall.came - buffer
    if beyond < _TELLING * stall.came:
        return None
    return abs(stall.lost - beyond) <= abs(stall.lost / count - beyond)


def _worst_share(trials: Sequence[Tried], events: int, count: int) -> float:
    """That of what was lost; an equal share where chance explains it."""
    worst = worst_lost(trials)
    if worst is None:
        return 1.0 / count
    by_chance = _BY_CHANCE * math.sqrt((count - 1) / max(1, events)) / count
    return worst if worst > 1.0 / count + by_chance else 1.0 / count


_AS_LIKELY_AS_NOT = 0.5
# The rate of absences has a gamma distribution, which these quantiles represent.
_NORMAL = NormalDist()
_QUANTILES = tuple(_NORMAL.inv_cdf((step + 0.5) / 5) for step in range(5))
# The relative variance of that rate is never taken for less.
_MIN_VARIANCE = 1e-4
# The range of loads is halved so often.
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class BufferShare:
    """The buffer holds `frames` for this share of the time."""

    frames: float
    share: float


@dataclass(frozen=True, slots=True)
class Terms:
    """What a validation is judged by: the loss ratio `limit`, in each of its `pieces`.

    A piece lasts for `piece_s`. A load is to last with this `confidence`.
    """

    limit: float
    piece_s: float
    pieces: float
    confidence: float


@dataclass(frozen=True)
class AllowedLossForecast:
    """Absences, the buffers that they meet, and the trials that say how much was lost so far."""

    spectrum: Spectrum
    growth: LoadGrowth
    buffers: tuple[BufferShare, ...]
    capacity_pps: float
    directions: Directions
    trials: Sequence[Tried] = field(default=(), repr=False)

    def highest_pps(self, terms: Terms, low_pps: float, high_pps: float) -> float:
        """The highest load of a range that lasts; its lower end where none does."""
        if self.lasts(high_pps, terms):
            return high_pps
        low, high = math.log(low_pps), math.log(high_pps)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            if self.lasts(math.exp(middle), terms):
                low = middle
            else:
                high = middle
        return math.exp(low)

    def lasts(self, load_pps: float, terms: Terms) -> bool:
        """Whether a load that passed a validation passes another with the confidence asked for."""
        once, twice = self.odds(load_pps, terms)
        return once >= _AS_LIKELY_AS_NOT and twice >= terms.confidence * once

    def odds(self, load_pps: float, terms: Terms) -> tuple[float, float]:
        """The probabilities that it passes one validation, and that it passes two."""
        budget = terms.limit * load_pps * terms.piece_s
        backlogs = self._backlogs(load_pps, terms.limit)
        factors = self._factors(load_pps)
        once = twice = 0.0
        for tail in self.spectrum.tails:
            per_s = (*self.spectrum.seen, *tail.absences)
            lost = CompoundSum(budget, self._losing(per_s, load_pps, terms.piece_s, backlogs))
            for factor in factors:
                passes = self._odds_of_all(lost, factor) ** terms.pieces
                once += tail.weight / len(factors) * passes
                twice += tail.weight / len(factors) * passes * passes
        return once, twice

    def _odds_of_all(self, lost: CompoundSum, factor: float) -> float:
        """That each direction keeps to its budget; that of one where all lose at once."""
        shares = self.directions.shares[:1] if self.directions.together else self.directions.shares
        each = {share: lost.odds_within(factor * share) for share in set(shares)}
        return math.prod(each[share] for share in shares)

    def _brought(self, absences: Sequence[Absences], load_pps: float) -> list[LosingEvents]:
        """The absences of a second, and the frames that arrive and wait during each."""
        of_reference = self.growth.at_load_s(1.0, load_pps)
        return [
            LosingEvents(each.per_s, load_pps * each.length_s * of_reference) for each in absences
        ]

    def _losing(
        self,
        absences: Sequence[Absences],
        load_pps: float,
        duration_s: float,
        backlogs: Sequence[Backlog],
    ) -> list[LosingEvents]:
        brought = self._brought(absences, load_pps)
        return [
            LosingEvents(each.expected * duration_s * buffer.share, each.frames)
            for buffer, backlog in zip(self.buffers, backlogs, strict=True)
            for each in backlog.losing(brought, buffer.frames)
        ]

    def _backlogs(self, load_pps: float, limit: float) -> list[Backlog]:
        """Of the worst direction, by what is known of absences in the mean."""
        share = max(self.directions.shares)
        brought = [
            LosingEvents(each.expected * share, each.frames)
            for each in self._brought(self.spectrum.mean, load_pps)
        ]
        spare_pps = self.capacity_pps - load_pps
        allowed_pps = limit * load_pps
        return [backlog_of(brought, spare_pps, each.frames, allowed_pps) for each in self.buffers]

    def _factors(self, load_pps: float) -> tuple[float, ...]:
        """Equally likely values of the true rate of absences, divided by the estimated one."""
        mean, variance = self._rate_known(load_pps)
        return _gamma_quantiles(mean, max(_MIN_VARIANCE * mean * mean, variance))

    def _rate_known(self, load_pps: float) -> tuple[float, float]:
        """Mean and variance of that factor.

        They follow from the number of absences seen, and from the frames that were lost by
        those which peaks do not show: a trial keeps no more than 64.
        """
        prior = self._variance_of_seen(load_pps)
        if prior <= 0.0:
            return 1.0, 0.0
        precision, weighted = 1.0 / prior, 1.0 / prior
        for told, ratio in self._told:
            precision += told
            weighted += told * ratio
        return weighted / precision, 1.0 / precision

    def _variance_of_seen(self, load_pps: float) -> float:
        """Relative variance of the mean loss, from the number of absences that it rests on."""
        spectrum = self.spectrum
        buffer = min(each.frames for each in self.buffers)
        seen = [max(0.0, each.frames - buffer) for each in self._brought(spectrum.seen, load_pps)]
        mean = sum(a.per_s * lost for a, lost in zip(spectrum.seen, seen, strict=True))
        square = sum(
            (a.per_s * lost) ** 2 / events
            for a, lost, events in zip(spectrum.seen, seen, spectrum.seen_events, strict=True)
        )
        beyond = spectrum.mean[len(spectrum.seen) :]
        tail = sum(
            each.expected * max(0.0, each.frames - buffer)
            for each in self._brought(beyond, load_pps)
        )
        total, tail_events = mean + tail, max(1.0, spectrum.tail_events)
        if total <= 0.0:
            return 1.0 / tail_events
        return (square + tail * tail / tail_events) / total**2

    @cached_property
    def _told(self) -> list[tuple[float, float]]:
        reached = (each for each in self.trials if self.growth.reaches(each.load_pps))
        return [self._told_by_losses(each) for each in reached]

    def _told_by_losses(self, tried: Tried) -> tuple[float, float]:
        """The factor's precision (1 / variance) from a trial's lost frames, and its estimate."""
        evidence, load_pps = tried.evidence, tried.load_pps
        absences = self.spectrum.mean
        hidden = self._hidden(tried, absences)
        if hidden <= 0.0:
            return 0.0, 1.0
        backlogs = self._backlogs(load_pps, evidence.loss_ratio)
        events = self._losing(absences, load_pps, evidence.sending_s, backlogs)
        foretold = Cumulants.of(events)
        if foretold.mean <= 0.0:
            return 0.0, 1.0
        per_hit = evidence.lost / self.directions.hit
        return hidden * foretold.mean**2 / foretold.variance, per_hit / foretold.mean

    def _hidden(self, tried: Tried, absences: Sequence[Absences]) -> float:
        """The share of a trial's expected loss that is due to absences its peaks do not show."""
        watched = WatchedTrial.of(tried, self.growth)
        buffer = min(each.frames for each in self.buffers)
        brought = self._brought(absences, tried.load_pps)
        total = shown = longer = 0.0
        by_length = sorted(zip(absences, brought, strict=True), key=lambda each: -each[0].length_s)
        for absence, (_, frames) in by_length:
            lost = absence.per_s * max(0.0, frames - buffer)
            total += lost
            if absence.length_s >= watched.below_s:
                shown += lost * math.exp(-longer * watched.interval_s)
            longer += absence.per_s
        return 1.0 - shown / total if total > 0.0 else 0.0


def _gamma_quantiles(mean: float, variance: float) -> tuple[float, ...]:
    """Equally likely values of a gamma distribution (Wilson and Hilferty 1931)."""
    spread = variance / mean**2 / 9.0
    found = [max(0.0, 1.0 - spread + z * math.sqrt(spread)) ** 3 for z in _QUANTILES]
    scale = mean * len(found) / sum(found)
    return tuple(each * scale for each in found)
