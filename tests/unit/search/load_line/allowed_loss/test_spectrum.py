"""How often absences of any length come, by peaks of which an interval shows the longest."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from plimsoll.search.load_line.allowed_loss.spectrum import Spectrum, spectrum_of
from plimsoll.search.load_line.stalls.stall_forecast import forecast_of
from plimsoll.search.load_line.tried import Tried
from tests.unit.search.load_line.trials import tried

LOAD_PPS = 1e5


def _watch(seed: int, per_s: float, seconds: int, interval_s: float, kept: int) -> Tried:
    """Stalls of 2 to 10 ms, all lengths as likely; the longest of each interval, `kept` of them."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    longest: dict[int, int] = {}
    at_s = chance.expovariate(per_s)
    while at_s < seconds:
        place = int(at_s / interval_s)
        longest[place] = max(longest.get(place, 0), chance.randrange(2_000_000, 10_000_000))
        at_s += chance.expovariate(per_s)
    intervals = round(seconds / interval_s)
    # Where there was no stall, frames waited for others.
    peaks = [(longest.get(place, 1000), place) for place in range(intervals)]
    largest = sorted(peaks, reverse=True)[:kept]
    return tried(
        LOAD_PPS,
        seconds,
        peaks_ns={place: ns for ns, place in sorted(largest, key=lambda each: each[1])},
        intervals=intervals,
    )


def _spectrum(trials: Sequence[Tried]) -> Spectrum:
    forecast = forecast_of(trials)
    assert forecast is not None
    return spectrum_of(trials, forecast)


def _longer(spectrum: Spectrum, than_s: float) -> float:
    return sum(each.per_s for each in spectrum.mean if each.length_s >= than_s)


@pytest.mark.parametrize(
    ("per_s", "interval_s"),
    [(0.2, 1.0), (0.5, 2.0), (0.6, 4.0)],
    ids=["one in five intervals", "one in each", "more than two in each"],
)
def test_absences_that_others_hide_are_counted(per_s: float, interval_s: float) -> None:
    """Of 600 s with all peaks: as many beyond 3, 5 and 7 ms as were drawn, give or take."""
    trials = [_watch(seed, per_s, 600, interval_s, 1000) for seed in (1, 2, 3, 4)]
    spectrum = _spectrum(trials)
    for than_ms in (3.0, 5.0, 7.0):
        share = (10.0 - than_ms) / 8.0
        assert _longer(spectrum, than_ms / 1e3) == pytest.approx(per_s * share, rel=0.25)


def test_what_a_long_trial_did_not_keep_is_known_from_a_short_one() -> None:
    """It kept the 64 longest of 3600 intervals: nothing below 9 ms, where the short one has all."""
    long, short = _watch(1, 0.2, 3600, 1.0, 64), _watch(2, 0.2, 600, 1.0, 1000)
    assert _longer(_spectrum([long]), 3e-3) < 0.25 * 0.2
    both = _longer(_spectrum([long, short]), 3e-3)
    assert both == pytest.approx(0.2 * 7.0 / 8.0, rel=0.25)


def test_stalls_that_are_all_of_a_length_are_all_counted() -> None:
    """Half of them lie above the threshold by a microsecond, half below it by one."""
    lengths_ns = {3 * place: 5_000_000 + 1000 * (place % 7) for place in range(200)}
    others_ns = {place: 1000 for place in range(600) if place % 3}
    watch = tried(LOAD_PPS, 600, peaks_ns=dict(sorted((lengths_ns | others_ns).items())))
    assert _longer(_spectrum([watch]), 4.8e-3) == pytest.approx(200 / 600, rel=0.25)


def test_likely_tails_are_of_equal_weight_and_keep_the_rate_beyond_the_threshold() -> None:
    trials = [_watch(seed, 0.2, 600, 1.0, 1000) for seed in (1, 2)]
    spectrum = _spectrum(trials)
    assert sum(tail.weight for tail in spectrum.tails) == pytest.approx(1.0)
    assert len({tail.weight for tail in spectrum.tails}) == 1
    for tail in spectrum.tails:
        lengths = [each.length_s for each in tail.absences]
        assert lengths == sorted(lengths)
        assert max(lengths) < 20e-3
