"""A hundred thousand routes of the kernel's: installed, read back, and hit."""

from typing import Any

import pytest

from tests.integration.command import Workplace, journal
from tests.integration.dut.namespace_lab import CPU, agreements, run_trial


# In each direction as many addresses as half of the table has.
def spread(count: int) -> dict[str, Any]:
    return {"flows": 1000, "vary": [{"field": "IP.dst", "step": count // 2000}]}


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.full)])
def test_frames_find_their_routes_among_thousands(
    place: Workplace, state: object, count: int
) -> None:
    """There is no route to the networks as a whole: what hits none is not forwarded."""
    trial = run_trial(place, {"kind": "linux-router", "cpu": CPU, "routes": count}, **spread(count))
    assert agreements(trial) == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    forwards = up["lab"]["forwards"]
    print(f"{count:,} routes in {forwards['routes_installed_in_s']} s")
    # And one to the IPv6 network behind either port.
    assert forwards["route_count"] == count + 2
    assert len(forwards["routes"]) == 64
