"""Guests of switches between the kernel's interfaces: frames counted at every point, and killed."""

import json
import subprocess
import time
from typing import Any

import pytest

from plimsoll.dut.sight import DutObservation, Hop, ObservesTrials
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.trial.judging.verdict import losses_between
from tests.integration.command import ROOT, Workplace
from tests.integration.dut.guest_chains import (
    hung_is_not_dead,
    killed_is_reported,
    skip_without,
    slow_last_port,
)
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    PATIENCE_S,
    agreements,
    ends_of,
    exchange,
    killed_owner_leaves_nothing,
    leftovers,
    leftovers_of_run,
    make_lab,
    run_trial,
    settings_of,
    start_owner,
)
from tests.integration.packet_port import PacketPort
from tests.integration.unspoilt import unspoilt

PVP: dict[str, Any] = {"chain": "pvp"}
TESTPMD: dict[str, Any] = {**PVP, "guest": "testpmd"}
# A virtual machine that boots what `make vm-kernel` unpacked.
VM: dict[str, Any] = {**PVP, "guest": "vm", "guest_image": str(ROOT / "build" / "vm-kernel")}
# With the testpmd that `make vm-testpmd` collected.
VM_TESTPMD: dict[str, Any] = {**VM, "guest_forwarding": "io"}


def full(kind: str, settings: dict[str, Any], name: str) -> Any:
    return pytest.param(kind, settings, id=f"{kind}-{name}", marks=pytest.mark.full)


# Each switch and each guest that needs no virtual machine once; the rest in the long tests.
CHAINS = [
    pytest.param("linux-bridge", PVP, id="linux-bridge-namespace", marks=pytest.mark.slow),
    pytest.param("ovs", TESTPMD, id="ovs-testpmd"),
    full("linux-bridge", {"chain": "pvvp"}, "pvvp"),
    full("linux-bridge", TESTPMD, "testpmd"),
    full("linux-bridge", VM, "vm"),
    full("linux-bridge", VM_TESTPMD, "vm-testpmd"),
    full("ovs", {"chain": "pvvp"}, "pvvp"),
    full("ovs", {**TESTPMD, "chain": "pvvp"}, "pvvp-testpmd"),
    full("ovs", VM, "vm"),
]
WITH_PROCESS = [
    pytest.param("ovs", TESTPMD, id="ovs-testpmd"),
    full("linux-bridge", TESTPMD, "testpmd"),
    full("linux-bridge", VM, "vm"),
    full("ovs", VM, "vm"),
]


@pytest.mark.parametrize(("kind", "settings"), CHAINS)
def test_a_trial_is_counted_alike_at_every_point(
    place: Workplace, kind: str, settings: dict[str, Any]
) -> None:
    skip_without(kind, settings)
    trial: dict[str, Any] = run_trial(place, {"kind": kind, "cpu": CPU, **settings})
    assert agreements(trial) == ["ok"] * 4
    # In and out of the switch, of the guest, and of the switch again, in both directions.
    points = {"pvp": 6, "pvvp": 10}[settings["chain"]]
    assert len(trial["hops"]) == 2 * points
    sent = {each["value"] for each in trial["findings"] if each["rule"] == "dut-counters"}
    assert {hop["frames"] for hop in trial["hops"]} == sent == {1000}
    assert leftovers_of_run(place) == set()


@pytest.mark.full
@pytest.mark.parametrize("settings", [PVP, TESTPMD, VM, VM_TESTPMD])
def test_long_frames_pass_a_guest(place: Workplace, settings: dict[str, Any]) -> None:
    skip_without("linux-bridge", settings)
    lab = {"kind": "linux-bridge", "cpu": CPU, **settings}
    trial: dict[str, Any] = run_trial(place, lab, frame_size=9018)
    assert {hop["frames"] for hop in trial["hops"]} == {1000}


@pytest.mark.full
@pytest.mark.parametrize("size", [64, 1518])
@pytest.mark.parametrize("kind", ["linux-bridge", "ovs", "ovs-dpdk"])
def test_an_overload_is_the_dut_s_and_every_frame_of_it_is_found(
    place: Workplace, kind: str, size: int
) -> None:
    """Frames are lost on the way to a virtual machine, in it, and behind it, by a slow port."""
    skip_without(kind, VM)
    streams = [
        {"name": "load", "role": "load", "flows": 64, "frame_size": size},
        # For the machine itself, whose bridge passes it on to nobody.
        {
            **{"name": "kept", "role": "load", "frame_size": size, "direction": "unidirectional"},
            **{"src_mac": "02:00:00:00:00:99", "dst_mac": "52:54:00:00:00:00"},
        },
    ]
    experiment = place.experiment(
        profile={"streams": streams},
        lab={"kind": kind, "cpu": CPU, **VM},
        trial={"drain": "4s", "warmup": "200ms", "catch_up": "1s"},
    )
    with slow_last_port(place, kind):
        done = unspoilt(
            place,
            *("trial", experiment, "--load", "20kpps", "--duration", "3s", "--json"),
            *("--runs", place.runs),
        )
    assert done.returncode == 1, done.stdout + done.stderr
    trial: dict[str, Any] = json.loads(done.stdout)
    assert trial["verdict"] == "fail"
    assert agreements(trial) == ["ok"] * 4
    hops = [Hop(**hop) for hop in trial["hops"] if hop["direction"] == 0]
    lost = dict(losses_between(hops))
    assert lost["between guest0, in and guest0, out"] > 0
    assert lost["between guest0b of the switch, in and port1 of the switch, out"] > 0
    # No hop has frames that the one before had not, and the ends are as the tester counts them.
    assert all(frames > 0 for frames in lost.values())
    tester = {(each["port"], each["direction"]): each["tester"] for each in trial["counters"]}
    assert (hops[0].frames, hops[-1].frames) == (tester[0, "into"], tester[1, "out-of"])
    assert leftovers_of_run(place) == set()


@pytest.mark.parametrize("kind", ["linux-bridge", "ovs"])
def test_each_link_of_a_chain_is_one_of_its_own(ledger: Ledger, kind: str) -> None:
    skip_without(kind, PVP)
    lab = make_lab(ledger, kind, chain="pvvp")
    exchange(ends_of(lab))
    forwards = json.loads(json.dumps(lab.facts()))["forwards"]
    if kind == "linux-bridge":
        joined = [sorted(bridge["ports"]) for bridge in forwards["bridges"].values()]
        assert joined == [["guest0a", "port0"], ["guest0b", "guest1a"], ["guest1b", "port1"]]
    else:
        assert forwards["rule_count"] == 6
    assert [guest["namespace"] for guest in forwards["guests"].values()] == [
        f"{ledger.namespace.name}-guest0",
        f"{ledger.namespace.name}-guest1",
    ]
    lab.down()
    lab.down()
    assert leftovers(ledger) == set()


def test_where_frames_are_lost_is_seen(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge", **PVP)
    ends = ends_of(lab)
    assert isinstance(lab, ObservesTrials)
    end_sight = lab.start_observation()
    # The guest takes frames in, and has nowhere to send them.
    guest = f"{ledger.namespace.name}-guest0"
    subprocess.run(["ip", "-netns", guest, "link", "set", "eth1", "nomaster"], check=True)
    send(ends[0])
    seen = until_arrived(end_sight, "guest0, in")
    there = [hop for hop in seen.hops if hop.direction == 0]
    assert [hop.frames for hop in there] == [FRAMES] * 3 + [0] * 3
    assert losses_between(there) == [("between guest0, in and guest0, out", FRAMES)]
    lab.down()


def send(end: str) -> None:
    with PacketPort(end) as port:
        port.send(bytes.fromhex("020001000001 020000000001 88b5") + bytes(46), FRAMES)


def until_arrived(end_sight: Any, place: str) -> DutObservation:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        seen: DutObservation = end_sight()
        arrived = sum(hop.frames for hop in seen.hops if hop.place == place)
        if arrived >= FRAMES or time.monotonic() > deadline:
            return seen
        time.sleep(0.05)


@pytest.mark.parametrize(("kind", "settings"), WITH_PROCESS)
def test_a_guest_that_is_killed_is_reported_as_such(
    ledger: Ledger, kind: str, settings: dict[str, Any]
) -> None:
    killed_is_reported(ledger, kind, settings, "guest0")


@pytest.mark.full
@pytest.mark.parametrize("settings", [TESTPMD, VM], ids=["testpmd", "vm"])
def test_a_guest_that_hangs_is_no_guest_that_died(ledger: Ledger, settings: dict[str, Any]) -> None:
    hung_is_not_dead(ledger, "linux-bridge", settings)


@pytest.mark.parametrize(("kind", "settings"), CHAINS)
def test_a_killed_owner_leaves_nothing_of_switch_and_guests(
    state: Any, kind: str, settings: dict[str, Any]
) -> None:
    skip_without(kind, settings)
    owner, ledger = start_owner(settings_of(kind, **settings))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert settings.get("guest") is None or processes["guest0"].alive
    present = leftovers(ledger)
    spaces = {name for name in present if "guest" in name}
    assert bool(spaces) == (settings.get("guest") != "vm")
    killed_owner_leaves_nothing(owner, ledger, state)
