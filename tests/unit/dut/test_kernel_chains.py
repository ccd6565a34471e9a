"""Guests of switches between the kernel's interfaces: settings, how they are joined, and counts."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.dut.guest.guest import GuestCounts, GuestPlace, Guests
from plimsoll.dut.guest.namespace_guest import NamespaceGuest
from plimsoll.dut.kernel.kernel_chain import KernelChain
from plimsoll.dut.kernel.wiring import Cables
from plimsoll.dut.lab import LabModel
from plimsoll.dut.labs.linux_bridge import LinuxBridge, LinuxBridgeSettings
from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.dut.needs import LabNeeds, NeededProgram
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.dut.sight import Hop
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import LinkCounters, NetworkNamespace
from plimsoll.trial.judging.verdict import losses_between
from tests.worded.says import Says

ADAPTER: TypeAdapter[LabModel] = TypeAdapter(LabSettings)
NO_GUESTS = Guests(())
DONE: list[str] = []


class RecordedNamespace(NetworkNamespace):
    """Takes down, for all of them together, what would be done in it."""

    __slots__ = ()

    def create(self) -> None:
        DONE.append(f"{self.name}: create")

    def batch(self, *lines: str) -> None:
        DONE.extend(f"{self.name}: {line}" for line in lines)

    def guest(self, name: str) -> NetworkNamespace:
        return RecordedNamespace(super().guest(name).name)

    def link_counters(self) -> dict[str, LinkCounters]:
        return {
            "port0": LinkCounters(0, 0, 0, 0, 0, 0),
            "guest0a": LinkCounters(rx_packets=40, rx_dropped=0, rx_errors=0, tx_packets=90,
                                    tx_dropped=7, tx_errors=0),
            "guest0b": LinkCounters(rx_packets=80, rx_dropped=0, rx_errors=0, tx_packets=45,
                                    tx_dropped=2, tx_errors=0),
        }  # fmt: skip


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> NetworkNamespace:
    DONE.clear()
    bridge = "plimsoll.dut.labs.linux_bridge"
    monkeypatch.setattr("plimsoll.dut.kernel.wiring.Wiring.lay", lambda self, space, mtu: ())
    monkeypatch.setattr(f"{bridge}.wait_until_forwarding", lambda space, name: None)
    monkeypatch.setattr(f"{bridge}.add_vlan", lambda space, vlan, in_memory: None)
    return RecordedNamespace("plimsoll-000000")


def masters() -> dict[str, str]:
    """Which bridge each port was given to."""
    found = [line.split() for line in DONE if " master " in line]
    return {words[3]: words[5] for words in found}


def built(namespace: NetworkNamespace, settings: LinuxBridgeSettings) -> None:
    chain = KernelChain(settings, NO_GUESTS)
    bridge = LinuxBridge(Cables("auto"), chain, learning=False, vlan=settings.vlan)
    bridge.build(namespace, settings.mtu)


def test_each_link_has_a_bridge_of_its_own(namespace: NetworkNamespace, says: Says) -> None:
    built(namespace, LinuxBridgeSettings(chain="pvvp"))
    assert masters() == {
        **{"port0": "bridge0", "guest0a": "bridge0"},
        **{"guest0b": "bridge1", "guest1a": "bridge1"},
        **{"guest1b": "bridge2", "port1": "bridge2"},
    }
    cable = "mtu 1500 type veth peer name eth1 mtu 1500 netns plimsoll-000000-guest1"
    assert f"plimsoll-000000: link add guest1b {cable}" in DONE
    assert "plimsoll-000000-guest1: create" in DONE
    assert says("plimsoll-000000-guest1", "link", "eth1") == DONE


def test_two_ports_alone_have_one_bridge(namespace: NetworkNamespace) -> None:
    built(namespace, LinuxBridgeSettings())
    assert masters() == {"port0": "bridge0", "port1": "bridge0"}
    assert not [line for line in DONE if "guest" in line]


def test_guests_see_frames_without_the_tag(namespace: NetworkNamespace) -> None:
    built(namespace, LinuxBridgeSettings(chain="pvp", vlan=100))
    assert masters() == {
        **{"port0.100": "bridge0", "guest0a": "bridge0"},
        **{"guest0b": "bridge1", "port1.100": "bridge1"},
    }


def test_a_virtual_machine_has_taps_in_the_switchs_namespace(
    namespace: NetworkNamespace, says: Says
) -> None:
    settings = LinuxBridgeSettings(
        chain="pvp", guest="vm", guest_image=Path("image"), frame_size=9018
    )
    built(namespace, settings)
    assert says("plimsoll-000000", "guest0a", "guest0b", "9000") == DONE
    assert not [line for line in DONE if "netns" in line]


class CountingGuest(NamespaceGuest):
    """A guest whose counters are known."""

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        return GuestCounts(90, 42), GuestCounts(45, 80)


def test_what_a_guest_had_no_room_for_left_the_switch(namespace: NetworkNamespace) -> None:
    settings = LinuxBridgeSettings(chain="pvp")
    guest = CountingGuest(GuestPlace(0, 1), namespace)
    chain = KernelChain(settings, Guests([guest]))
    ends = (LinkCounters(100, 0, 0, 39, 0, 0), LinkCounters(50, 0, 0, 79, 0, 0))
    assert chain.hops(namespace, ends) == (
        Hop(0, "port0 of the switch, in", 100),
        # 90 were taken, and 7 had no room: those are lost between here and the guest.
        Hop(0, "guest0a of the switch, out", 97),
        Hop(0, "guest0, in", 90),
        Hop(0, "guest0, out", 80),
        Hop(0, "guest0b of the switch, in", 80),
        Hop(0, "port1 of the switch, out", 79),
        Hop(1, "port1 of the switch, in", 50),
        Hop(1, "guest0b of the switch, out", 47),
        Hop(1, "guest0, in", 45),
        Hop(1, "guest0, out", 42),
        Hop(1, "guest0a of the switch, in", 40),
        Hop(1, "port0 of the switch, out", 39),
    )


class OverloadedNamespace(NetworkNamespace):
    """What `ip -s link` said after a trial of 36,116 frames into a virtual machine that had room
    for 8,096 of them, and behind whose bridge a token bucket filter dropped another 2,391.
    """

    __slots__ = ()

    def link_counters(self) -> dict[str, LinkCounters]:
        return {
            "port0": LinkCounters(36_116, 0, 0, 8_096, 0, 0),
            "guest0a": LinkCounters(8_096, 0, 0, 8_096, 28_020, 0),
            "guest0b": LinkCounters(4_074, 0, 0, 8_096, 9_962, 0),
            "port1": LinkCounters(18_058, 0, 0, 1_683, 0, 0),
        }


class OverloadedGuest(NamespaceGuest):
    """Half of what came in by its first port was for itself."""

    def counts(self) -> tuple[GuestCounts, GuestCounts]:
        return GuestCounts(8_096, 8_096), GuestCounts(8_096, 4_074)


def test_frames_lost_before_in_and_behind_a_guest_are_told_apart(says: Says) -> None:
    space = OverloadedNamespace("plimsoll-000000")
    guest = OverloadedGuest(GuestPlace(0, 1), space)
    chain = KernelChain(LinuxBridgeSettings(chain="pvp"), Guests([guest]))
    links = space.link_counters()
    hops = chain.hops(space, (links["port0"], links["port1"]))
    there = [hop for hop in hops if hop.direction == 0]
    back = [hop for hop in hops if hop.direction == 1]
    # By the counters of the tap, of the guest, and of the filter (tc -s qdisc).
    assert losses_between(there) == [
        (says("guest0a", "guest0"), 28_020),
        (says("guest0"), 4_022),
        (says("guest0b", "port1"), 2_391),
    ]
    assert losses_between(back) == [(says("guest0b", "guest0"), 9_962)]


def test_without_guests_the_ports_are_all_there_is(namespace: NetworkNamespace) -> None:
    ends = (LinkCounters(1, 0, 0, 1, 0, 0),) * 2
    assert KernelChain(LinuxBridgeSettings(), NO_GUESTS).hops(namespace, ends) == ()


def test_cpus_and_memory_are_those_of_switch_and_guests(tmp_path: Path, says: Says) -> None:
    plain = OvsSettings(cpu=3, chain="pvvp")
    assert plain.polled_cpus == (("lab.cpu", 3),)
    assert plain.megabytes == 0
    own = OvsSettings(cpu=3, chain="pvvp", guest_cpus=(5, 4))
    assert own.polled_cpus == (("lab.cpu", 3), ("lab.guest_cpus", 4), ("lab.guest_cpus", 5))
    testpmd = OvsSettings(chain="pvvp", guest="testpmd")
    assert testpmd.megabytes == 2 * OvsSettings(chain="pvp", guest="testpmd").megabytes > 0
    # Of frames of 9000 bytes mbufs take more.
    assert testpmd.for_frames(9018).megabytes > testpmd.megabytes
    chain = testpmd.make_chain(Ledger(tmp_path), MemoryPlan(huge=False, megabytes=0), "ours")
    (note,) = chain.notes()
    assert note == says("3", "1")
    assert KernelChain(plain, NO_GUESTS).notes() == ()


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"kind": "ovs", "chain": "pvp", "rules": "normal"}, ("push_vlan",)),
        ({"kind": "ovs", "chain": "pvp", "rules": 100}, ("push_vlan",)),
        ({"kind": "ovs", "chain": "pvp", "push_vlan": [7]}, ("push_vlan",)),
        ({"kind": "ovs", "chain": "pvp", "ports": "af_xdp"}, ("AF_PACKET",)),
        (
            {"kind": "linux-bridge", "chain": "pvp", "guest_forwarding": "mac"},
            ("mac",),
        ),
        ({"kind": "linux-bridge", "chain": "pvp", "guest": "vm"}, ("guest_image",)),
        ({"kind": "linux-bridge", "chain": "pvp", "guest_cpus": [1, 2]}, ("2", "guest_cpus", "1")),
        ({"kind": "ovs-dpdk", "chain": "pvp", "guest": "namespace"}, ("testpmd", "vm")),
        ({"kind": "linux-router", "chain": "pvp"}, ()),
    ],
)
def test_unsound_chains_are_refused(
    document: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(document)
    assert caught.value == says(*facts)


def test_a_virtual_machine_needs_taps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: Says
) -> None:
    monkeypatch.setattr(LabNeeds, "check", lambda self: None)
    monkeypatch.setattr(NeededProgram, "find", lambda self: self.name)
    monkeypatch.setattr("plimsoll.dut.guest.vm_image.VmImage.check", lambda self: None)
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: self.name == "TUN")
    LinuxBridgeSettings(chain="pvp", guest="testpmd").check_machine()
    with pytest.raises(MachineError) as caught:
        LinuxBridgeSettings(chain="pvp", guest="vm", guest_image=tmp_path).check_machine()
    assert caught.value == says("lab.guest")


@pytest.mark.parametrize("model", [LinuxBridgeSettings, OvsSettings])
def test_what_a_kind_of_guest_lacks_is_listed(
    monkeypatch: pytest.MonkeyPatch, model: type[LabModel], says: Says
) -> None:
    monkeypatch.setenv("PATH", "/proc/nonexistent")
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: False)
    assert model.needs().unavailable_settings() == (
        says("12"),
        says("qemu-system-x86_64", "qemu-system-x86"),
    )
