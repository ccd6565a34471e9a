"""The kernel's own forwarding as a DUT: frames pass, both sides count them, nothing is left."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from scapy.all import IP, Ether, IPv6

from plimsoll.dut.lab import LinkGone
from plimsoll.dut.registry.standing import lab_down, lab_list, lab_up
from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.host.processes.identity import end_process, wait_for_end
from tests.integration.command import Workplace
from tests.integration.dut.namespace_lab import (
    CPU,
    FRAMES,
    MACS,
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

KINDS = ("linux-bridge", "linux-router", "macvlan", "tc-redirect")
# What all of them inherit is proved once without the long tests.
ONE_KIND = [KINDS[0], *(pytest.param(kind, marks=pytest.mark.full) for kind in KINDS[1:])]
# Where the defaults need what few kernels have.
SETTINGS: dict[str, dict[str, str]] = {"tc-redirect": {"classifier": "u32"}}
# What a setting adds to the namespace goes with it, where the kernel has it at all.
WITH_MORE_IN_THE_KERNEL: list[tuple[str, dict[str, object]]] = [
    ("linux-bridge", {"vlan": 7}),
    ("linux-router", {"vlan": 7}),
    ("linux-router", {"neighbours": "dynamic"}),
    ("tc-redirect", {"classifier": "flower"}),
]


def skip_without(kind: str, **settings: object) -> None:
    try:
        settings_of(kind, **(settings or SETTINGS.get(kind, {}))).check_machine()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("kind", KINDS)
def test_frames_pass_and_the_dut_counts_them(ledger: Ledger, kind: str) -> None:
    skip_without(kind)
    lab = make_lab(ledger, kind, **SETTINGS.get(kind, {}))
    ends = ends_of(lab)
    before = lab.counters()
    assert before is not None
    back, there = exchange(ends)
    after = lab.counters()
    assert after is not None
    assert [
        (new.rx_frames - old.rx_frames, new.tx_frames - old.tx_frames, new.rx_missed)
        for old, new in zip(before, after, strict=True)
    ] == [(FRAMES, FRAMES, 0)] * 2
    # A router takes one from the TTL, and a switch leaves it.
    hops = 63 if kind == "linux-router" else 64
    assert {(Ether(frame).dst, Ether(frame)[IP].ttl) for frame in there} == {(MACS[1], hops)}
    assert {(Ether(frame).dst, Ether(frame)[IPv6].hlim) for frame in back} == {(MACS[0], hops)}
    lab.down()
    lab.down()
    assert leftovers(ledger) == set()


def test_what_it_is_and_how_it_forwards_is_on_record(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge", learning=False)
    lab.up()
    facts = json.loads(json.dumps(lab.facts()))
    assert facts["version"] == f"Linux {os.uname().release}"
    assert facts["forwards"]["bridges"]["bridge0"]["ports"]["port0"] == {
        "state": "forwarding",
        "learning": False,
    }
    lab.down()


def test_frames_are_forwarded_on_the_cpu_of_the_lab(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge")
    lab.up()
    read = ("cat", "/sys/class/net/port0/queues/rx-0/rps_cpus")
    name = str(lab.facts()["namespace"])
    mask = subprocess.run(
        ["ip", "netns", "exec", name, *read], capture_output=True, text=True, check=True
    ).stdout
    assert int(mask.replace(",", ""), 16) == 1 << CPU
    lab.down()


def test_a_cable_that_is_cut_is_seen(ledger: Ledger) -> None:
    lab = make_lab(ledger, "linux-bridge")
    ends = ends_of(lab)
    lost = lab.watch_links()
    assert lost() == ()
    subprocess.run(["ip", "link", "set", ends[0], "down"], check=True)
    assert lost() == (f"interface {ends[0]}",)
    subprocess.run(["ip", "link", "delete", ends[0]], check=True)
    with pytest.raises(LinkGone, match=ends[0]):
        lab.check()
    lab.down()
    assert leftovers(ledger) == set()


def test_what_cannot_be_built_leaves_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise MachineError("no carrier")

    monkeypatch.setattr("plimsoll.dut.wired._wait_for_carriers", refuse)
    with pytest.raises(MachineError, match="no carrier"):
        make_lab(ledger, "macvlan").up()
    assert leftovers(ledger) == set()


@pytest.mark.parametrize("kind", ONE_KIND)
def test_a_killed_owner_leaves_nothing(state: Path, kind: str) -> None:
    skip_without(kind)
    owner, ledger = start_owner(settings_of(kind, **SETTINGS.get(kind, {})))
    assert len(leftovers(ledger)) == 3
    killed_owner_leaves_nothing(owner, ledger, state)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "settings"), WITH_MORE_IN_THE_KERNEL)
def test_a_killed_owner_leaves_nothing_of_what_settings_add(
    state: Path, kind: str, settings: dict[str, object]
) -> None:
    skip_without(kind, **settings)
    owner, ledger = start_owner(settings_of(kind, **settings))
    assert len(leftovers(ledger)) == 3
    killed_owner_leaves_nothing(owner, ledger, state)


def test_the_next_command_cleans_up_after_owner_and_janitor_were_killed(state: Path) -> None:
    owner, ledger = start_owner(settings_of("linux-bridge"))
    (janitor,) = [each.identity for each in ledger.record.processes]
    name = ledger.namespace.name
    assert end_process(janitor, patience_s=0)
    owner.kill()
    owner.communicate()
    assert leftovers(ledger) != set()
    assert f"removed the network namespace {name}" in sweep()
    assert leftovers(ledger) == set()


def test_it_goes_even_where_its_ledger_was_deleted(state: Path) -> None:
    owner, ledger = start_owner(settings_of("linux-bridge"))
    (janitor,) = [each.identity for each in ledger.record.processes]
    shutil.rmtree(ledger.directory)
    owner.kill()
    owner.communicate()
    assert wait_for_end(janitor, PATIENCE_S)
    # A janitor that had not yet read its ledger leaves that to the next command.
    sweep()
    assert leftovers(ledger) == set()


def test_it_stands_until_it_is_taken_down(state: Path) -> None:
    lab = lab_up(settings_of("linux-router"))
    ledger = Ledger(state / lab.id)
    assert [(found.id, found.state) for found in lab_list()] == [(lab.id, "up")]
    assert sweep() == []
    assert len(leftovers(ledger)) == 3
    lab_down(lab.id)
    assert leftovers(ledger) == set()


@pytest.mark.parametrize("kind", ONE_KIND)
def test_a_trial_of_the_engine_agrees_to_the_frame(
    place: Workplace, state: Path, kind: str
) -> None:
    skip_without(kind)
    lab = {"kind": kind, "cpu": CPU, **SETTINGS.get(kind, {})}
    assert agreements(run_trial(place, lab)) == ["ok"] * 4
    assert leftovers_of_run(place) == set()


def test_redirection_by_traffic_control_is_read_back(ledger: Ledger) -> None:
    skip_without("tc-redirect")
    lab = make_lab(ledger, "tc-redirect", classifier="u32")
    exchange(ends_of(lab))
    forwards = json.loads(json.dumps(lab.facts()))["forwards"]
    there, back = forwards["actions"]["port0"], forwards["actions"]["port1"]
    redirected = {"classifier": "u32", "action": "redirect", "packets": FRAMES, "drops": 0}
    assert (there, back) == ([{**redirected, "to": "port1"}], [{**redirected, "to": "port0"}])
    lab.down()
