"""A simulated tester that offers less than the line carries."""

from dataclasses import replace

import pytest

from plimsoll.dut.labs.simulated import SimulatedSettings
from plimsoll.generator.simulated import Simulation


def slow_tester(monkeypatch: pytest.MonkeyPatch, bps: float) -> None:
    """Every simulation's tester offers what `bps` carry, whatever its lab's line rate is."""
    usual = SimulatedSettings.simulation.fget  # type: ignore[attr-defined]

    def simulation(settings: SimulatedSettings) -> Simulation:
        return replace(usual(settings), line_rate_bps=bps)

    monkeypatch.setattr(SimulatedSettings, "simulation", property(simulation))
