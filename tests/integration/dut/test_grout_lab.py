"""grout as a DUT: frames counted by both, to the frame; killed in the middle, nothing is left."""

import json
import os
import signal
from pathlib import Path

import pytest

from plimsoll.dut.lab import LabDied
from plimsoll.dut.labs.grout import GroutSettings
from plimsoll.dut.registry.standing import lab_down, lab_up
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from tests.integration.command import ROOT, Workplace, journal
from tests.integration.dut.namespace_lab import (
    CPU,
    IPV6,
    agreements,
    killed_owner_leaves_nothing,
    leftovers,
    leftovers_of_run,
    make_lab,
    run_trial,
    settings_of,
    start_owner,
)

pytestmark = pytest.mark.full
# Where `make grout` unpacks it.
UNPACKED = ROOT / "build" / "grout" / "bin"


@pytest.fixture(autouse=True)
def _has_grout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{UNPACKED}:{os.environ['PATH']}")
    try:
        GroutSettings(cpu=CPU).check_machine()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("forwarding", "stream"), [("cross", {}), ("route", {}), ("route", IPV6)], ids=str
)
def test_a_trial_passes_and_grout_counted_the_same(
    place: Workplace, forwarding: str, stream: dict[str, object]
) -> None:
    lab = {"kind": "grout", "cpu": CPU, "forwarding": forwarding}
    trial = run_trial(place, lab, **stream)
    assert agreements(trial) == ["ok"] * 4
    assert leftovers_of_run(place) == set()
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert up["lab"]["version"].startswith("grout v")
    routes = {each["destination"] for each in up["lab"]["forwards"]["routes"]}
    assert routes >= ({"198.18.0.0/16", "198.19.0.0/16"} if forwarding == "route" else set())


def test_a_grout_that_is_killed_is_reported_as_such(ledger: Ledger) -> None:
    lab = make_lab(ledger, "grout")
    lab.up()
    (grout,) = lab.processes()
    os.kill(grout.pid, signal.SIGKILL)
    with pytest.raises(LabDied) as died:
        lab.counters()
    assert (died.value.process, died.value.pid, died.value.exit_status) == ("grout", grout.pid, -9)
    lab.down()
    assert leftovers(ledger) == set()


def test_a_killed_owner_leaves_nothing_of_grout(state: Path) -> None:
    owner, ledger = start_owner(settings_of("grout"))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert processes["grout"].alive
    killed_owner_leaves_nothing(owner, ledger, state)


def test_it_stands_until_it_is_taken_down(state: Path) -> None:
    lab = lab_up(settings_of("grout"))
    ledger = Ledger(state / lab.id)
    assert any(each.startswith("grout ") for each in lab.processes)
    lab_down(lab.id)
    assert leftovers(ledger) == set()
    assert list(state.iterdir()) == []


def test_how_it_forwards_is_read_back(ledger: Ledger) -> None:
    lab = make_lab(ledger, "grout", forwarding="route")
    lab.up()
    forwards = json.loads(json.dumps(lab.facts()["forwards"]))
    assert {each["name"] for each in forwards["ports"]} >= {"p0", "p1"}
    assert {each["destination"] for each in forwards["routes"]} >= {
        *("198.18.0.0/16", "198.19.0.0/16"),
        *("2001:2:0:1::/64", "2001:2:0:2::/64"),
    }
    assert {each["cpu_id"] for each in forwards["queues"]} == {CPU}
    lab.down()


def test_it_has_a_hundred_thousand_routes(place: Workplace) -> None:
    """There is no route to the networks as a whole: what hits none is not forwarded."""
    lab = {"kind": "grout", "cpu": CPU, "forwarding": "route", "routes": 100_000}
    spread = {"flows": 1000, "vary": [{"field": "IP.dst", "step": 50}]}
    trial = run_trial(place, lab, **spread)
    assert agreements(trial) == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    print(f"100,000 routes in {up['lab']['routes_installed_in_s']} s")
    assert up["lab"]["forwards"]["route_count"] == 100_002
