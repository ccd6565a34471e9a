"""A router that asks for its neighbours: no MAC is written, and the DUT pings the tester."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.network_namespace import NAMESPACE_PREFIX
from tests.integration.command import ROOT, Workplace, assert_goes_on, journal, until
from tests.integration.dut.namespace_lab import CPU, agreements
from tests.integration.unspoilt import refuse_spoilt

EXAMPLE = ROOT / "examples/router-neighbours.yaml"
TESTER = ("192.0.2.2", "192.0.2.130", "2001:db8:0:1::2", "2001:db8:0:2::2")
PINGS = 3
# Frames at the DUT by which the trial has surely begun.
SENDS = 500


def example(place: Workplace, **host: object) -> Path:
    given: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    given["generator"]["hosts"][0] |= host
    return place.experiment(
        lab={**given["lab"], "cpu": CPU},
        generator=given["generator"],
        profile=given["profile"],
    )


def ping_from_the_dut(run: Path) -> list[str]:
    """Ping the tester's addresses by the DUT's kernel, in the midst of the trial."""
    until(lambda: any(each["kind"] == "lab-up" for each in journal(run)), "the lab")
    (up,) = [event for event in journal(run) if event["kind"] == "lab-up"]
    name = str(up["lab"]["namespace"])
    assert name.startswith(NAMESPACE_PREFIX)
    counter = ["ip", "netns", "exec", name, "cat", "/sys/class/net/port0/statistics/rx_packets"]

    def received() -> int:
        return int(subprocess.run(counter, capture_output=True, text=True, check=True).stdout)

    until(lambda: received() >= SENDS, "frames at the DUT")
    program = [sys.executable, str(ROOT / "tests/integration/pinging.py")]
    command = ["ip", "netns", "exec", name, *program, *TESTER, str(PINGS), "64"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.slow
def test_a_trial_passes_with_no_mac_written_while_the_router_pings(place: Workplace) -> None:
    words = ("--load", "1kpps", "--duration", "10s", "--json", "--runs", place.runs)
    running = place.start("trial", example(place), *words)

    def begun() -> bool:
        assert_goes_on(running)
        return place.runs.exists() and bool(list(place.runs.iterdir()))

    until(begun, "the run")
    answered = ping_from_the_dut(place.only_run())
    said, complaint = running.communicate(timeout=300)
    refuse_spoilt([place.only_run()], running.returncode)
    assert running.returncode == 0, complaint
    trial = json.loads(said)
    assert answered == [f"{address} {PINGS}" for address in TESTER]
    assert trial["verdict"] == "pass"
    # Frames of the hosts are in both sides' counters, and agree to the frame.
    assert agreements(trial) == ["ok"] * 4
    found = {(each["port"], each["address"]) for each in trial["resolved"]}
    assert found == {
        *((0, "192.0.2.1"), (0, "2001:db8:0:1::1")),
        *((1, "192.0.2.129"), (1, "2001:db8:0:2::1")),
    }
    assert all(sum(port["foreign_kinds"].values()) == 0 for port in trial["ports"])


def test_a_gateway_that_does_not_answer_is_named(place: Workplace) -> None:
    done = place.run(
        *("trial", example(place, gateways=["192.0.2.9", "2001:db8:0:1::1"]), "--load", "1kpps"),
        *("--duration", "1s", "--runs", place.runs),
    )
    assert done.returncode == MachineError.exit_code
    assert "no answer from 192.0.2.9 on port 0" in done.stderr
