"""The simulated tester against what each model truly sustains, and against itself."""

from __future__ import annotations

import pytest

from plimsoll.search.registry import settings_of
from plimsoll.search.simulated.tester import SimulatedTester
from plimsoll.search.strategy.ask import ONLY_GOAL, Ask, Finished
from plimsoll.search.strategy.judged_by_loss import judged_by_loss
from plimsoll.text.units import Rate


def _to_pps(field: str, rate: Rate) -> float:
    return rate.value


@pytest.mark.parametrize("kind", ["fixed-capacity", "rare-stalls", "random-loss", "soft-knee"])
@pytest.mark.parametrize("strategy", ["load-line", "mlrsearch", "binary"])
def test_a_search_finds_what_the_dut_sustains(kind: str, strategy: str) -> None:
    tester = SimulatedTester({"kind": kind}, seed=3)
    allowed = {ONLY_GOAL: 1e-3}
    settings = settings_of(
        {
            "strategy": strategy,
            "minimum": "10kpps",
            "maximum": "2Mpps",
            "validation": {"duration": "10m"},
        }
    )
    search = settings.judged_by(allowed).begin(_to_pps)
    while not isinstance(asked := search.ask(), Finished):
        search.tell(judged_by_loss(tester.trial(asked), allowed))
    sustained_pps = tester.model.sustainable_pps(1e-3, horizon_s=600.0)
    assert sustained_pps is not None
    assert asked.first.load_line_pps == pytest.approx(sustained_pps, rel=0.03)


def test_frames_are_counted_once() -> None:
    """Of 2 s at 1.5 Mpps, what is above the capacity is lost, but for what the buffer holds."""
    tester = SimulatedTester({"kind": "fixed-capacity", "capacity_deviation": 0}, seed=1)
    evidence = tester.trial(Ask("search", 1.5e6, 2.0))
    assert evidence.offered == 2 * 3_000_000
    assert evidence.lost == pytest.approx(2 * (1_000_000 - 4096), abs=2)
    assert (evidence.intervals, evidence.lossy_intervals) == (10, 10)
    # The last frame waits behind a full buffer.
    assert evidence.max_ns == pytest.approx(4096e3 + 10_000, rel=0.01)


def test_a_burst_leaves_at_the_line_rate_and_then_nothing() -> None:
    tester = SimulatedTester({"kind": "fixed-capacity", "capacity_deviation": 0}, seed=1)
    line_pps, frames = 10e9 / 672, 10_000
    evidence = tester.trial(Ask("burst", 5e5, 1.0, burst_frames=frames))
    assert evidence.offered == pytest.approx(2 * frames, abs=2)
    kept = 4096 + 1e6 * frames / line_pps
    assert evidence.lost == pytest.approx(2 * (frames - kept), abs=4)


def test_the_same_seed_gives_the_same_trials() -> None:
    model = {"kind": "rare-stalls", "period": "1s"}
    first, again, other = (SimulatedTester(model, seed=seed) for seed in (5, 5, 6))
    asked = Ask("search", 9e5, 30.0)
    evidence = first.trial(asked)
    assert evidence == again.trial(asked)
    assert evidence != other.trial(asked)
