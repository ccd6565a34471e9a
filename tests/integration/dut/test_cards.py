"""A DUT on interfaces that the machine has, which it borrows and gives back as they were.

Veth pairs made by hand stand for cards and their cables; tests/integration/test_duts_on_cards.py
has cards.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.errors import InputError, MachineError
from plimsoll.host.ledger.ledger import Ledger, sweep
from plimsoll.host.processes.identity import end_process
from tests.integration.command import Workplace
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

# They lie in the machine's own network namespace, next to those of other sessions.
OURS = f"plc{os.getpid():x}"
DUT, TESTER = (f"{OURS}-d0", f"{OURS}-d1"), (f"{OURS}-t0", f"{OURS}-t1")
CARDS = {"dut": DUT, "tester": [{"netdev": name, "driver": "af_packet"} for name in TESTER]}
MTU, MACS = 1400, ("02:00:00:00:0d:00", "02:00:00:00:0d:01")
KINDS: dict[str, dict[str, object]] = {
    "linux-bridge": {},
    "linux-router": {},
    "tc-redirect": {"classifier": "u32"},
    "xdp": {"mode": "generic"},
    "ovs": {},
}
# What all of them inherit is proved once without the long tests.
ONE_KIND = [
    "linux-router",
    *(pytest.param(kind, marks=pytest.mark.full) for kind in ("xdp", "ovs")),
]


def ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@pytest.fixture
def cards(state: Path) -> Iterator[None]:
    """Two pairs, those of the DUT down, and with an MTU and a CPU's mask of their owner's."""
    for dut, tester, mac in zip(DUT, TESTER, MACS, strict=True):
        pair = ("mtu", str(MTU), "type", "veth", "peer", "name", tester)
        ip("link", "add", dut, "address", mac, *pair)
        for name in (dut, tester):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
        ip("link", "set", tester, "up")
        rps_of(dut).write_text("1")
    yield
    for name in DUT:
        subprocess.run(["ip", "link", "delete", name], check=False)


def rps_of(name: str) -> Path:
    return Path(f"/sys/class/net/{name}/queues/rx-0/rps_cpus")


def as_before() -> bool:
    """Whether the DUT's interfaces are where and as they were."""
    for name, mac in zip(DUT, MACS, strict=True):
        (link,) = json.loads(ip("-json", "-details", "link", "show", "dev", name))
        assert (link["address"], link["mtu"], "UP" in link["flags"]) == (mac, MTU, False)
        assert "xdp" not in link
        assert int(rps_of(name).read_text().replace(",", ""), 16) == 1
    return True


def skip_without(kind: str) -> None:
    try:
        settings_of(kind, **KINDS[kind]).check_machine()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("kind", KINDS)
def test_frames_pass_and_the_interfaces_come_back(ledger: Ledger, cards: None, kind: str) -> None:
    skip_without(kind)
    settings_of(kind, cards=CARDS, **KINDS[kind]).check_machine()
    lab = make_lab(ledger, kind, cards=CARDS, **KINDS[kind])
    ends = ends_of(lab)
    assert tuple(ends) == TESTER
    lab.wait_links(PATIENCE_S)
    before = lab.counters()
    assert before is not None
    assert [len(frames) for frames in exchange(ends)] == [FRAMES, FRAMES]
    after = lab.counters()
    assert after is not None
    assert [
        (new.rx_frames - old.rx_frames, new.tx_frames - old.tx_frames)
        for old, new in zip(before, after, strict=True)
    ] == [(FRAMES, FRAMES)] * 2
    assert not Path(f"/sys/class/net/{DUT[0]}").exists()
    lab.down()
    lab.down()
    assert leftovers(ledger) == set()
    assert as_before()


@pytest.mark.parametrize("kind", ONE_KIND)
def test_a_killed_owner_gives_the_interfaces_back(state: Path, cards: None, kind: str) -> None:
    skip_without(kind)
    owner, ledger = start_owner(settings_of(kind, cards=CARDS, **KINDS[kind]))
    assert leftovers(ledger) == {ledger.namespace.name}
    killed_owner_leaves_nothing(owner, ledger, state)
    assert as_before()


def test_the_next_command_gives_back_what_owner_and_janitor_could_not(
    state: Path, cards: None
) -> None:
    owner, ledger = start_owner(settings_of("linux-bridge", vlan=None, cards=CARDS))
    (janitor,) = [each.identity for each in ledger.record.processes]
    assert end_process(janitor, patience_s=0)
    owner.kill()
    owner.communicate()
    done = sweep()
    assert [f"took back the interface {name}" for name in DUT] == done[:2]
    assert leftovers(ledger) == set()
    assert as_before()


def test_what_cannot_be_lent_leaves_all_as_it_was(ledger: Ledger, cards: None) -> None:
    """The second one is gone when the first has been lent."""
    lab = make_lab(ledger, "linux-router", cards={**CARDS, "dut": (DUT[0], f"{OURS}-none")})
    with pytest.raises(MachineError, match=f"{OURS}-none"):
        lab.up()
    assert leftovers(ledger) == set()
    assert as_before()


def test_a_trial_of_the_engine_agrees_to_the_frame(place: Workplace, cards: None) -> None:
    lab = {"kind": "linux-router", "cpu": CPU, "cards": CARDS}
    assert agreements(run_trial(place, lab)) == ["ok"] * 4
    assert leftovers_of_run(place) == set()
    assert as_before()


ON_ONE = {"kind": "macvlan", "cpu": CPU, "cards": {"dut": DUT[:1], "tester": CARDS["tester"][:1]}}


def test_macvlan_on_one_agrees_to_the_frame(place: Workplace, cards: None) -> None:
    assert agreements(run_trial(place, ON_ONE)) == ["ok"] * 4
    assert leftovers_of_run(place) == set()
    assert as_before()


def test_macvlan_s_killed_owner_gives_it_back(state: Path, cards: None) -> None:
    settings = settings_of("macvlan", cards=ON_ONE["cards"])
    owner, ledger = start_owner(settings)
    assert leftovers(ledger) == {ledger.namespace.name, ledger.namespace.tester_end(1)}
    killed_owner_leaves_nothing(owner, ledger, state)
    assert as_before()


def test_an_interface_with_an_address_or_a_master_is_left_alone(cards: None) -> None:
    settings = settings_of("linux-router", cards=CARDS)
    ip("address", "add", "192.0.2.9/24", "dev", DUT[1])
    with pytest.raises(InputError) as refused:
        settings.check_machine()
    assert str(refused.value) == (
        f"lab.cards.dut[1]: {DUT[1]} has the addresses 192.0.2.9/24, which it would lose to the "
        f"lab (ip address flush dev {DUT[1]}, if they are not needed, or choose another)"
    )
    ip("address", "flush", "dev", DUT[1])
    ip("link", "add", f"{OURS}-br", "type", "bridge")
    try:
        ip("link", "set", DUT[0], "master", f"{OURS}-br")
        with pytest.raises(MachineError, match=rf"lab\.cards\.dut\[0\]: {DUT[0]} belongs to"):
            settings.check_machine()
    finally:
        ip("link", "delete", f"{OURS}-br")
    settings.check_machine()


def test_the_dut_waits_for_its_carriers(ledger: Ledger, cards: None) -> None:
    lab = make_lab(ledger, "linux-router", cards=CARDS)
    lab.up()
    ip("link", "set", TESTER[1], "down")
    with pytest.raises(MachineError, match=rf"lab\.cards\.dut: {DUT[1]} has no carrier"):
        lab.wait_links(0.2)
    ip("link", "set", TESTER[1], "up")
    lab.wait_links(PATIENCE_S)
    lab.down()


def test_each_lab_with_ports_of_its_own_can_have_cards() -> None:
    assert set(KINDS) < set(lab_kinds())
