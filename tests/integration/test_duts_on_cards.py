"""DUTs of Plimsoll's own on network cards that QEMU emulates, the tester's ports on two more.

The cards 3 and 4 are the tester's, by DPDK; a cable joins card 1 to 3, and another card 2 to 4.
What is shown is that it works, never how fast. Skipped where the parts are missing; `make vm-nics`
fetches them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.command import QUICK, finished_trials, journal
from tests.integration.dut.namespace_lab import IPV6, agreements
from tests.integration.unspoilt import unspoilt_in_guest
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.nic_guest import CARDS, ROOT, NicGuest, booted

pytestmark = pytest.mark.full

DUT, TESTER = (CARDS[1], CARDS[2]), (CARDS[3], CARDS[4])
MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02")
BY_DPDK = [{"devargs": address} for address in TESTER]
RATE_PPS, SECONDS = 200, 5
# Where `make grout` unpacks it.
GROUT = ROOT / "build" / "grout" / "bin"


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    """Its cards 1 and 2 are the kernel's, the others vfio-pci's."""
    try:
        with booted("igb", tmp_path_factory.mktemp("duts")) as guest:
            guest.bind_by_hand(*TESTER)
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


def interfaces(guest: NicGuest) -> list[str]:
    """What the kernel calls the DUT's cards."""
    return [guest.must(f"ls /sys/bus/pci/devices/{card}/net").strip() for card in DUT]


def states(guest: NicGuest) -> dict[str, tuple[object, ...]]:
    """Of every interface of the guest's own: MAC, MTU, flags that its owner sets."""
    links = json.loads(guest.must("ip -json link show"))
    return {each["ifname"]: (each["address"], each["mtu"], "UP" in each["flags"]) for each in links}


def trial_of(
    guest: NicGuest,
    name: str,
    lab: dict[str, object],
    load: dict[str, object],
    seconds: int,
    **changes: object,
) -> str:
    """The command of a trial of the lab, whose experiment is written for it."""
    experiment = {
        **QUICK,
        "name": name,
        "lab": {"cpu": 2, **lab},
        "generator": {"kind": "engine", "cpus": [1]},
        "profile": {"streams": [load]},
        **changes,
    }
    (guest.folder / "shared" / f"{name}.yaml").write_text(yaml.safe_dump(experiment))
    return (
        f"trial /shared/{name}.yaml --load {RATE_PPS}pps --duration {seconds}s "
        f"--runs /shared/{name}"
    )


def trial_through(
    guest: NicGuest,
    name: str,
    lab: dict[str, object],
    path: Path = Path("/usr/bin"),
    **stream: object,
) -> dict[str, Any]:
    """A trial that passes, in which every frame comes back and both sides count the same.

    Programs in `path` are found before others. `stream` is what its load has of its own.
    """
    load = {"name": "load", "role": "load", "flows": 64, **stream}
    patient = {"drain": "2s", "warmup": None, "catch_up": "1s"}
    done = unspoilt_in_guest(guest, trial_of(guest, name, lab, load, SECONDS, trial=patient), path)
    print(done.said)
    assert done.status == 0
    (run,) = (guest.folder / "shared" / name).iterdir()
    (trial,) = finished_trials(run)
    # Where the host has no time for the guest, some are given up before they are sent.
    assert [(each["sent"] + each["skipped"], each["received"]) for each in trial["streams"]] == [
        (RATE_PPS * SECONDS, each["sent"]) for each in trial["streams"]
    ]
    assert agreements(trial) == ["ok"] * 4
    (up,) = [event for event in journal(run) if event["kind"] == "lab-up"]
    found: dict[str, Any] = up["lab"]
    return found


@pytest.mark.parametrize(
    ("name", "settings", "by"),
    [
        ("router", {"kind": "linux-router"}, "Linux IP forwarding"),
        ("xdp", {"kind": "xdp"}, "XDP redirect, native mode"),
    ],
)
def test_the_kernel_forwards_between_cards_that_come_back(
    guest: NicGuest, name: str, settings: dict[str, object], by: str
) -> None:
    before = states(guest)
    cards = {"dut": interfaces(guest), "tester": BY_DPDK}
    lab = trial_through(guest, name, {**settings, "cards": cards})
    assert lab["forwards"]["by"] == by
    assert states(guest) == before
    assert [before[each][0] for each in cards["dut"]] == list(MACS)


def test_macvlan_on_a_card_that_comes_back(guest: NicGuest) -> None:
    before = states(guest)
    cards = {"dut": interfaces(guest)[:1], "tester": BY_DPDK[:1]}
    lab = trial_through(guest, "macvlan", {"kind": "macvlan", "cards": cards})
    assert lab["forwards"]["by"] == "macvlan in bridge mode"
    assert states(guest) == before


@contextmanager
def killed_in_the_middle(
    guest: NicGuest, name: str, lab: dict[str, object], path: Path = Path("/usr/bin")
) -> Iterator[None]:
    """A trial that sends in the block, and is killed after it."""
    load = {"name": "load", "role": "load"}
    running = guest.start_plimsoll(trial_of(guest, name, lab, load, 600), path)
    guest.must("until pidof plimsoll-engine; do sleep 0.5; done")
    yield
    guest.must("kill -9 $(cat /run/plimsoll.pid)")
    guest.wait(running)


def test_the_kernel_has_its_cards_back_after_a_kill(guest: NicGuest) -> None:
    before = states(guest)
    cards = {"dut": interfaces(guest), "tester": BY_DPDK}
    with killed_in_the_middle(guest, "killed", {"kind": "linux-router", "cards": cards}):
        assert set(states(guest)) == {"lo"}
    guest.must('while [ -n "$(ls /run/netns)" ]; do sleep 0.5; done')
    assert states(guest) == before


@pytest.fixture(scope="module")
def bound(guest: NicGuest) -> NicGuest:
    """With the DUT's cards given to vfio-pci, too; what comes after has no others."""
    for name in interfaces(guest):
        guest.must(f"ip link set {name} down")
    guest.bind_by_hand(*DUT)
    return guest


def test_testpmd_forwards_between_cards_of_its_own(bound: NicGuest) -> None:
    cards = {"dut": list(DUT), "tester": BY_DPDK}
    lab = trial_through(bound, "testpmd", {"kind": "testpmd", "mbufs": 8192, "cards": cards})
    assert [word for word in lab["argv"] if word in DUT] == list(DUT)


@pytest.mark.parametrize("forwarding", ["cross", "route"])
def test_grout_forwards_between_cards_of_its_own(bound: NicGuest, forwarding: str) -> None:
    if not (GROUT / "grout").exists():
        pytest.skip("there is no grout (make grout)")
    cards = {"dut": list(DUT), "tester": BY_DPDK}
    settings = {"kind": "grout", "forwarding": forwarding, "cards": cards}
    lab = trial_through(bound, f"grout-{forwarding}", settings, path=GROUT)
    assert lab["version"].startswith("grout v")


def vpp_folder() -> Path:
    """Where the machine's own VPP is, which the guest sees as well."""
    vpp = shutil.which("vpp")
    if vpp is None or shutil.which("vppctl") is None:
        pytest.skip("there is no vpp on PATH (FD.io's packages vpp and vpp-plugin-dpdk)")
    return Path(vpp).parent


@pytest.mark.parametrize("stream", [{}, IPV6], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("forwarding", ["cross", "bridge", "route"])
def test_vpp_forwards_between_cards_of_its_own(
    bound: NicGuest, request: pytest.FixtureRequest, forwarding: str, stream: dict[str, object]
) -> None:
    path = vpp_folder()
    cards = {"dut": list(DUT), "tester": BY_DPDK}
    settings = {"kind": "vpp", "forwarding": forwarding, "cards": cards}
    name = f"vpp-{request.node.callspec.id}"
    lab = trial_through(bound, name, settings, path, **stream)
    assert lab["version"].startswith("vpp v")
    layer = "l3" if forwarding == "route" else "l2"
    assert [line.split()[0] for line in lab["forwards"]["modes"]] == [layer] * 2


def test_a_killed_vpp_leaves_its_cards_and_hugepages(bound: NicGuest) -> None:
    path = vpp_folder()
    cards = {"dut": list(DUT), "tester": BY_DPDK}
    free = "grep HugePages_ /proc/meminfo; ls /dev/shm"
    before = bound.must(free)
    with killed_in_the_middle(bound, "vpp-killed", {"kind": "vpp", "cards": cards}, path):
        assert bound.must("pidof vpp")
        assert bound.must(free) != before
    bound.must("while pidof vpp; do sleep 0.5; done")
    bound.must(f"until [ \"$({free})\" = '{before.strip()}' ]; do sleep 0.5; done")


def test_open_vswitch_with_dpdk_forwards_between_cards_of_its_own(bound: NicGuest) -> None:
    cards = {"dut": list(DUT), "tester": BY_DPDK}
    lab = trial_through(bound, "switch", {"kind": "ovs-dpdk", "cards": cards})
    assert lab["forwards"]["by"] == "Open vSwitch, userspace datapath (netdev) with DPDK"
