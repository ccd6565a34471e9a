"""Open vSwitch as a DUT: an instance of its own, frames counted by both, killed in the middle."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from scapy.all import IP, UDP, Ether

from plimsoll.dut.lab import LabDied
from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.dut.registry.standing import lab_down, lab_up
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.host.processes.identity import end_process
from tests.integration.command import ROOT, Workplace, until
from tests.integration.dut.guest_chains import (
    hung_is_not_dead,
    killed_is_reported,
    programs_of,
    skip_without,
)
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    MACS,
    ends_of,
    exchange,
    killed_owner_leaves_nothing,
    leftovers,
    leftovers_of_run,
    make_lab,
    settings_of,
    start_owner,
)
from tests.integration.packet_port import PacketPort
from tests.integration.unspoilt import unspoilt

# From the tester's port 0 towards its port 1.
FRAME = bytes(
    Ether(src=MACS[0], dst=MACS[1]) / IP(src="198.18.0.1", dst="198.19.7.7") / UDP()
) + bytes(30)
WAYS = pytest.mark.parametrize(
    "more", [{}, {"rules": "normal"}, pytest.param({"ports": "af_xdp"}, marks=pytest.mark.full)]
)


@pytest.fixture(autouse=True)
def _has_open_vswitch() -> None:
    try:
        OvsSettings().check_machine()
    except MachineError as error:
        pytest.skip(str(error))


def test_a_port_behind_a_guest_has_its_own_counters(ledger: Ledger) -> None:
    """The numbers of ports depend on the guests: what is lost in one did not leave by port 1."""
    lab = make_lab(ledger, "ovs", chain="pvp", guest="namespace")
    ends = ends_of(lab)
    ledger.namespace.guest("guest0").batch("link set eth1 down")
    with PacketPort(ends[0]) as port:
        port.send(FRAME, FRAMES)
    until(lambda: lab.counters()[0].rx_frames == FRAMES, "the switch to take them in")
    assert [(each.rx_frames, each.tx_frames) for each in lab.counters()] == [(FRAMES, 0), (0, 0)]


@WAYS
def test_frames_pass_and_open_vswitch_counts_them(ledger: Ledger, more: dict[str, str]) -> None:
    lab = make_lab(ledger, "ovs", **more)
    ends = ends_of(lab)
    exchange(ends)
    counted = lab.counters()
    assert counted is not None
    assert [(each.rx_frames, each.tx_frames, each.rx_missed) for each in counted] == [
        (FRAMES, FRAMES, 0)
    ] * 2
    facts = json.loads(json.dumps(lab.facts()))
    assert facts["version"].startswith("ovs-vswitchd (Open vSwitch) ")
    figures = facts["forwards"]["figures"].values()
    assert sum(each["packets received"] for each in figures) == 2 * FRAMES
    # The first of each flow has to ask the slow path.
    assert sum(each["miss with success upcall"] for each in figures) >= 2
    lab.down()
    lab.down()
    assert leftovers(ledger) == set()


def test_the_rules_are_read_back_from_the_switch(ledger: Ledger) -> None:
    lab = make_lab(ledger, "ovs")
    lab.up()
    forwards = json.loads(json.dumps(lab.facts()["forwards"]))
    assert forwards["rules"] == ["in_port=1 actions=output:2", "in_port=2 actions=output:1"]
    # Nothing of it is the system's.
    assert not list(Path("/run/openvswitch").glob("*plimsoll*"))
    lab.down()


def test_a_switch_that_is_killed_is_reported_as_such(ledger: Ledger) -> None:
    lab = make_lab(ledger, "ovs")
    lab.up()
    pid = programs_of(ledger)["ovs-vswitchd"]
    assert [(each.name, each.pid) for each in lab.processes()] == [("ovs-vswitchd", pid)]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(LabDied) as died:
        lab.counters()
    assert (died.value.process, died.value.pid, died.value.exit_status) == ("ovs-vswitchd", pid, -9)
    lab.down()
    assert leftovers(ledger) == set()


def test_a_switch_that_does_not_start_leaves_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "ovs-vswitchd"
    program.write_text("#!/bin/sh\necho no such datapath\nexit 7\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LabDied, match=r"(?s)exited with status 7.*no such datapath"):
        make_lab(ledger, "ovs").up()
    assert leftovers(ledger) == set()


@pytest.mark.parametrize(
    "more",
    [
        {},
        *(
            pytest.param(more, marks=pytest.mark.full)
            for more in ({"ports": "af_xdp"}, {"vxlan": {"vni": 7}}, {"datapath": "system"})
        ),
    ],
)
def test_a_killed_owner_leaves_neither_switch_nor_database(
    state: Path, more: dict[str, Any]
) -> None:
    skip_without("ovs", more)
    owner, ledger = start_owner(settings_of("ovs", **more))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert processes["ovsdb-server"].alive
    killed_owner_leaves_nothing(owner, ledger, state)


def test_the_next_command_cleans_up_after_owner_and_janitor_were_killed(state: Path) -> None:
    owner, ledger = start_owner(settings_of("ovs"))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert end_process(processes["janitor"], patience_s=0)
    owner.kill()
    owner.communicate()
    sweep()
    assert not [name for name, identity in processes.items() if identity.alive]
    assert leftovers(ledger) == set()
    assert list(state.iterdir()) == []


def test_it_stands_until_it_is_taken_down(state: Path) -> None:
    lab = lab_up(settings_of("ovs"))
    ledger = Ledger(state / lab.id)
    assert any(each.startswith("ovs-vswitchd ") for each in lab.processes)
    lab_down(lab.id)
    assert leftovers(ledger) == set()
    assert list(state.iterdir()) == []


@pytest.mark.skipif(Path("/sys/module/openvswitch").exists(), reason="the kernel has a datapath")
def test_the_kernels_datapath_is_refused_where_there_is_none() -> None:
    with pytest.raises(MachineError, match=r"lab\.datapath: this kernel has no Open vSwitch"):
        settings_of("ovs", datapath="system").check_machine()


def trial_of(place: Workplace, kind: str, **more: object) -> dict[str, Any]:
    """What a trial of the engine on this lab printed."""
    stream = {"name": "load", "role": "load", "flows": 64}
    lab = {"kind": kind, "cpu": CPU, **more}
    experiment = place.experiment(profile={"streams": [stream]}, lab=lab)
    words = ("--load", "1kpps", "--duration", "1s", "--json", "--runs", place.runs)
    done = unspoilt(place, "trial", experiment, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


PVP: dict[str, Any] = {"chain": "pvp"}
# A virtual machine that boots what `make vm-kernel` unpacked.
VM: dict[str, Any] = {**PVP, "guest": "vm", "guest_image": str(ROOT / "build" / "vm-kernel")}
GUESTS = [pytest.param(PVP, id="testpmd"), pytest.param(VM, id="vm", marks=pytest.mark.full)]
# One trial proves the counters of a switch with DPDK, of the guest and of all hops.
TRIALS: list[Any] = [
    # A trial of "ovs" is in test_ovs_rules.py, too.
    pytest.param("ovs", {}, marks=pytest.mark.full),
    ("ovs-dpdk", PVP),
    pytest.param("ovs-dpdk", VM, id="vm", marks=pytest.mark.full),
    pytest.param(
        "ovs-dpdk",
        {**VM, "guest_forwarding": "macswap"},
        id="vm-testpmd",
        marks=pytest.mark.full,
    ),
    pytest.param("ovs-dpdk", {}, marks=pytest.mark.full),
    pytest.param("ovs-dpdk", {"chain": "pvvp"}, marks=pytest.mark.full),
]


@pytest.mark.parametrize(("kind", "more"), TRIALS)
def test_open_vswitch_counts_the_frames_of_a_trial(
    place: Workplace, kind: str, more: dict[str, Any]
) -> None:
    skip_without(kind, more)
    trial = trial_of(place, kind, **more)
    assert trial["verdict"] == "pass"
    agreed = [each for each in trial["findings"] if each["rule"] == "dut-counters"]
    assert [each["outcome"] for each in agreed] == ["ok"] * 4
    assert [each["value"] - each["limit"] for each in agreed] == [0] * 4
    sent = {each["value"] for each in agreed}
    hops = trial["hops"]
    # In and out of the switch, or of switch, guest, switch, and so on, in both directions.
    points = {"ovs": 0, "p2p": 2, "pvp": 6, "pvvp": 10}
    passed = 2 * points["ovs" if kind == "ovs" else more.get("chain", "p2p")]
    assert len(hops) == passed
    assert not hops or {hop["frames"] for hop in hops} == sent
    assert leftovers_of_run(place) == set()


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("victim", ["guest0", "ovs-vswitchd"])
def test_who_died_in_the_middle_is_told_apart(
    ledger: Ledger, victim: str, guest: dict[str, Any]
) -> None:
    killed_is_reported(ledger, "ovs-dpdk", guest, victim)


@pytest.mark.full
@pytest.mark.parametrize("guest", GUESTS)
def test_a_guest_that_hangs_is_no_guest_that_died(ledger: Ledger, guest: dict[str, Any]) -> None:
    hung_is_not_dead(ledger, "ovs-dpdk", guest)


@pytest.mark.parametrize("guest", GUESTS)
def test_a_killed_owner_leaves_nothing_of_open_vswitch_with_dpdk(
    state: Path, guest: dict[str, Any]
) -> None:
    skip_without("ovs-dpdk", guest)
    owner, ledger = start_owner(settings_of("ovs-dpdk", **guest))
    processes = {each.name: each.identity for each in ledger.record.processes}
    assert processes["ovs-vswitchd"].alive
    assert processes["guest0"].alive
    killed_owner_leaves_nothing(owner, ledger, state)
