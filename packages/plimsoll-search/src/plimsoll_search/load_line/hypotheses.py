"""Intervals in which frames were lost, and what may explain one: each explanation with its odds.

The DUT serves on, but at less than its capacity: the queue is full, and stays so. Whatever a phase
loses and however long it lasts, a frame waits for no longer than a full queue takes at the
capacity that is left. So peaks say what is left, by Little's law, and are as alike as the phases
are.

A stall that overflowed a buffer smaller than the one that fills in overload. Others take from a
pool that queues share, and for minutes at a time the buffer is smaller. Then what a stall lost
says how much there was: what came, less what was lost. Losses that have nothing to do with their
peaks do not agree on that.

The DUT is away for a while: what comes meanwhile waits, and is lost without room. While it is away
for s seconds, load·s frames come, and load·s - buffer are lost. So a loss has a peak that is
longer than it takes to fill the queue, and by as much as lost the frames.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import neg
from statistics import median
from typing import ClassVar, Literal, Protocol, Self

from .tried import Tried


@dataclass(frozen=True, slots=True)
class LossIncident:
    """`lost` frames of all directions, in an interval of `seconds` from `at_s` on.

    `peak_s` is by how much the worst latency in it was longer than the trial's shortest, at
    most; 0 where none is known. Intervals with losses came as often as if each interval of the
    trial had `crowding` of their causes in the mean, by Poisson. `rank` is the share of the
    trial's intervals that had such a peak or a longer one.
    """

    at_s: float
    seconds: float
    load_pps: float
    lost: float
    peak_s: float
    crowding: float
    rank: float = 1.0

    @property
    def came(self) -> float:
        """Frames that came to one direction while its unluckiest frame waited."""
        return self.load_pps * self.peak_s


def incidents_of(tried: Tried) -> Iterator[LossIncident]:
    """The intervals with losses that the evidence keeps, by time."""
    evidence = tried.evidence
    peaks_s = {peak.at_s: tried.above_least_s(peak.max_ns) for peak in evidence.peaks}
    # Of more intervals than that, the largest peaks are kept: no other is larger than those.
    kept_all = len(peaks_s) >= evidence.intervals
    unknown_s = 0.0 if kept_all else min(peaks_s.values(), default=0.0)
    share = min(evidence.lossy_intervals, evidence.intervals - 0.5) / max(1, evidence.intervals)
    crowding = -math.log1p(-max(0.0, share))
    by_length = sorted(peaks_s.values(), reverse=True)
    for loss in evidence.losses:
        seconds = loss.end_s - loss.begin_s
        peak_s = peaks_s.get(loss.begin_s, unknown_s)
        longer = bisect_right(by_length, -peak_s, key=neg)
        rank = min(1.0, max(1, longer) / max(1, evidence.intervals))
        if loss.begin_s not in peaks_s:
            rank = 1.0
        yield LossIncident(
            loss.begin_s, seconds, tried.load_pps, float(loss.frames), peak_s, crowding, rank
        )


HypothesisName = Literal["stall", "small-buffer", "slow-phase", "sporadic"]

# What waits in overload is known about so well.
NEARLY = 0.97
# So many directions may lose frames in the same incident, and a little more.
AT_ONCE = 3
# A latency of which no more is known than its order of magnitude, per natural logarithm.
LOG_ANY = -math.log(math.log(10.0))
IMPOSSIBLE = -math.inf


class Hypothesis(Protocol):
    """One explanation, fitted to the incidents that it is to explain."""

    @property
    def name(self) -> HypothesisName:
        """What it says happened."""

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """As these incidents make it likeliest.

        `full_queue` frames wait in plain overload; 0 where that is not known.
        """

    def log_density(self, incident: LossIncident) -> float:
        """Of the incident's peak, given what it lost; per natural logarithm of the peak."""


# Figures that are alike differ by so much, as a share: what phases leave, what buffers hold.
_ALIKE = 0.02


def _middle_if_alike(values: Sequence[float]) -> float | None:
    """Their median, where half of them are alike."""
    middle = median(values)
    apart = median(abs(math.log(each / middle)) for each in values)
    return middle if apart <= _ALIKE else None


def _log_density_of(ratio: float) -> float:
    """Of a value that is so many times the one that it should be like; log-normal."""
    apart = math.log(ratio) / _ALIKE
    return -(apart**2) / 2.0 - math.log(_ALIKE * math.sqrt(2.0 * math.pi))


_MIN_ALIKE = 5
# What leaves more of the load than this is a queue that happens to be full at that load.
_MAX_LEFT = 0.99
# Latencies are whole nanoseconds.
_MIN_S = 1e-10
# A phase that leaves less than this share of the load is as good as a stall.
_MIN_LEFT = 0.2


@dataclass(frozen=True, slots=True)
class SlowPhaseHypothesis:
    """Phases that leave `left_pps`; None where each leaves another capacity, or few are known."""

    name: ClassVar[HypothesisName] = "slow-phase"
    full_queue: float
    left_pps: float | None

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """All at once, by the median of their peaks, if half of them are alike."""
        left = [full_queue / each.peak_s for each in incidents if each.peak_s > _MIN_S]
        if not full_queue or len(left) < _MIN_ALIKE:
            return cls(full_queue, None)
        return cls(full_queue, _middle_if_alike(left))

    def left_of(self, incident: LossIncident) -> float:
        """The capacity that an incident's phase left, in pps."""
        return self.full_queue / incident.peak_s

    def log_density(self, incident: LossIncident) -> float:
        """A peak between that of the load's own full queue and five times as much."""
        if not self.full_queue or incident.peak_s <= _MIN_S:
            return IMPOSSIBLE
        left = self.left_of(incident)
        if not _MIN_LEFT * incident.load_pps <= left < _MAX_LEFT * incident.load_pps:
            return IMPOSSIBLE
        if incident.lost > AT_ONCE * (incident.load_pps - left) * incident.seconds:
            return IMPOSSIBLE
        if self.left_pps is None:
            return LOG_ANY
        return _log_density_of(left / self.left_pps)


_MIN_ALIKE_STALLS = 3
# Where so many stalls share an interval in the mean, their losses add up.
_CROWDED = 0.2
# Less than this share of the full queue is no buffer that was taken from.
_SMALLEST = 0.05
# Until stalls agree on it, one buffer in twenty is taken to change.
_LOG_RARE = math.log(0.05)


@dataclass(frozen=True, slots=True)
class SmallBufferHypothesis:
    """The buffer holds `held` frames; None where stalls do not agree on it, or are few."""

    name: ClassVar[HypothesisName] = "small-buffer"
    full_queue: float
    held: float | None

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """By the incidents whose peaks are shorter than a full queue, if half of them agree.

        Where no overload showed a full queue, the most that a stall found room for is one.
        """
        most = full_queue or max((each.came - each.lost for each in incidents), default=0.0)
        found = [
            incident.came - incident.lost
            for incident in incidents
            if _SMALLEST * most < incident.came - incident.lost
            and incident.came < NEARLY * most
            and incident.crowding < _CROWDED
        ]
        if len(found) < _MIN_ALIKE_STALLS:
            return cls(full_queue, None)
        return cls(most, _middle_if_alike(found))

    def log_density(self, incident: LossIncident) -> float:
        """A peak as long as the small buffer and what was lost take to come.

        The peak of a stall is among the longest of its trial; of the causes that have nothing
        to do with the peak, one has so long a peak by a chance of `rank`.
        """
        held = incident.came - incident.lost
        if not self.full_queue or not _SMALLEST * self.full_queue < held:
            return IMPOSSIBLE
        if held > NEARLY * self.full_queue:
            return IMPOSSIBLE
        unlikely = -math.log(incident.rank)
        if self.held is None:
            return LOG_ANY + unlikely + _LOG_RARE
        return _log_density_of(held / self.held) + unlikely


# By chance, a peak as long as a full queue comes together with such a loss so seldom.
_LOG_COINCIDENCE = -6.0


@dataclass(frozen=True, slots=True)
class SporadicHypothesis:
    """A peak has nothing to do with the loss, and is shorter than a full queue."""

    name: ClassVar[HypothesisName] = "sporadic"
    full_queue: float

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """Its only parameter is the queue."""
        return cls(full_queue)

    def log_density(self, incident: LossIncident) -> float:
        """What any other explanation has to exceed."""
        waited = incident.came >= NEARLY * self.full_queue and incident.came > 0.0
        return LOG_ANY + (_LOG_COINCIDENCE if waited else 0.0)


# Only a stall's loss and peak go together. For another cause it is a coincidence: of losses of
# any order of magnitude up to 10^5 frames, one in e^4 is so near.
_LOG_EXACT = 4.0
# As good as impossible.
_MAX_STALLS = 1e6


@dataclass(frozen=True, slots=True)
class StallHypothesis:
    """Any length is as likely as any; what does not fit is how many it takes at once."""

    name: ClassVar[HypothesisName] = "stall"
    full_queue: float

    @classmethod
    def fitted(cls, incidents: Sequence[LossIncident], full_queue: float) -> Self:
        """Its only parameter is the queue."""
        return cls(full_queue)

    def log_density(self, incident: LossIncident) -> float:
        """By the number of stalls in one interval that it takes to lose so much."""
        came, lost = incident.came, incident.lost
        if came <= 0.0 or came < self.full_queue * NEARLY:
            return IMPOSSIBLE
        if not self.full_queue:
            return LOG_ANY if lost < came else IMPOSSIBLE
        each = AT_ONCE * (came - self.full_queue * NEARLY)
        if each <= 0.0:
            return IMPOSSIBLE
        if self._is_exact(incident):
            return LOG_ANY + _LOG_EXACT
        stalls = math.ceil(min(lost / each, _MAX_STALLS))
        return LOG_ANY + _log_odds_of_more(stalls, incident.crowding)

    def _is_exact(self, incident: LossIncident) -> bool:
        """Whether one stall, of one direction or of both, lost just what did not fit."""
        beyond = incident.came - self.full_queue
        return any(
            abs(incident.lost / directions - beyond) <= (1.0 - NEARLY) * self.full_queue
            for directions in (1, 2)
        )


def _log_odds_of_more(stalls: int, mean: float) -> float:
    """The chance of so many in an interval that has one, by Poisson, bounded by its first term."""
    if stalls <= 1:
        return 0.0
    mean = max(mean, 1e-9)
    further = stalls - 1
    return min(0.0, further * math.log(mean) - math.lgamma(further + 1))
