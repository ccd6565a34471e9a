"""Labs whose DUT is the kernel: what their settings make of it, and what they refuse."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.dut.kernel.settings import add_vlan
from plimsoll.dut.lab import LabModel, LineRate
from plimsoll.dut.labs.linux_bridge import LinuxBridgeSettings
from plimsoll.dut.labs.linux_router import LinuxRouter, LinuxRouterSettings
from plimsoll.dut.labs.macvlan import MacvlanSettings
from plimsoll.dut.labs.tc_redirect import TcRedirectSettings
from plimsoll.dut.needs import NAMESPACE_CAPABILITIES, LabNeeds, NeededProgram
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import ip_batch
from plimsoll.host.namespaces.network_namespace import NetworkNamespace, cpu_mask
from tests.worded.says import Says

LAY = "plimsoll.dut.kernel.wiring.Wiring.lay"
# Nothing is entered in it.
LEDGER = Ledger(Path("/proc/nonexistent"))
ALL_CAPABILITIES = frozenset(NAMESPACE_CAPABILITIES)
ADAPTER: TypeAdapter[LabModel] = TypeAdapter(LabSettings)


@pytest.mark.parametrize(
    ("cpu", "mask"),
    [(0, "1"), (5, "20"), (31, "80000000"), (32, "1,00000000"), (69, "20,00000000,00000000")],
)
def test_a_cpu_as_the_kernel_writes_its_mask(cpu: int, mask: str) -> None:
    assert cpu_mask(cpu) == mask


@pytest.mark.parametrize(
    ("frame_size", "mtu"),
    # An MTU has neither the header's 14 bytes nor the FCS's 4.
    [(64, 1500), (1518, 1500), (1519, 1501), (9018, 9000)],
)
def test_interfaces_pass_the_longest_frame(frame_size: int, mtu: int) -> None:
    assert LinuxBridgeSettings().for_frames(frame_size).mtu == mtu


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"kind": "linux-bridge", "cores": 1}, ()),
        ({"kind": "linux-bridge", "vlan": 4095}, ("4094",)),
        ({"kind": "xdp", "mode": "offload"}, ("native", "generic")),
        ({"kind": "xdp", "frame_size": 9000}, ("3396",)),
        ({"kind": "tc-redirect", "classifier": "bpf"}, ("flower", "u32")),
        ({"kind": "linux-bridge", "driver": "dpdk"}, ("auto",)),
        ({"kind": "linux-bridge", "line_rate": "5Mpps"}, ()),
        ({"kind": "linux-router", "networks": [["198.18.0.0/16"]]}, ()),
        (
            {"kind": "linux-router", "networks": [["198.18.0.1/16"], ["::/0"]]},
            ("198.18.0.1/16", "198.18.0.0/16"),
        ),
        ({"kind": "linux-router", "networks": [[], ["::/0"]]}, ("1",)),
        ({"kind": "macvlan", "macs": ["02:00", "02:00:01:00:00:01"]}, ("02:00",)),
    ],
)
def test_unsound_settings_are_refused(
    document: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        ADAPTER.validate_python(document)
    assert caught.value == says(*facts)


class RecordedNamespace(NetworkNamespace):
    """Takes down what would be done in it."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        super().__init__("plimsoll-000000")
        object.__setattr__(self, "done", [])

    def batch(self, *lines: str) -> None:
        self.done.extend(lines)

    def write(self, value: str, *settings: str) -> None:
        self.done.extend(f"{setting} = {value}" for setting in settings)


def test_the_router_routes_to_where_the_frames_of_the_other_port_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LAY, lambda self, space, mtu: ())
    settings = LinuxRouterSettings(
        networks=(("10.1.0.0/16",), ("10.2.0.0/16", "2001:db8::/64")),  # type: ignore[arg-type]
        macs=("02:aa:00:00:00:00", "02:bb:00:00:00:00"),
    )
    forwarder = settings.forwarder(LEDGER)
    assert isinstance(forwarder, LinuxRouter)
    namespace = RecordedNamespace()
    forwarder.build(namespace, 1500)
    lines = namespace.done
    # Frames from the tester's port 0 go to the MAC of its port 1: that is the router's here.
    assert "link set port0 address 02:bb:00:00:00:00" in lines
    assert "link set port1 address 02:aa:00:00:00:00" in lines
    assert "neighbour add 192.0.2.1 lladdr 02:aa:00:00:00:00 dev port0 nud permanent" in lines
    assert "route add 10.1.0.0/16 via 192.0.2.1 dev port0 onlink" in lines
    assert "route add 10.2.0.0/16 via 192.0.2.2 dev port1 onlink" in lines
    assert "route add 2001:db8::/64 via fe80::2 dev port1 onlink" in lines
    assert "/proc/sys/net/ipv4/conf/all/rp_filter = 0" in lines


def test_a_router_of_ipv4_alone_leaves_ipv6_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LAY, lambda self, space, mtu: ())
    networks = (("10.1.0.0/16",), ("10.2.0.0/16",))
    namespace = RecordedNamespace()
    LinuxRouterSettings(networks=networks).forwarder(LEDGER).build(namespace, 1500)  # type: ignore[arg-type]
    assert not [line for line in namespace.done if "ipv6" in line]


def test_a_router_of_a_vlan_routes_between_interfaces_of_its_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LAY, lambda self, space, mtu: ())
    # Nothing to be turned off: the namespace is not there.
    monkeypatch.setattr("plimsoll.dut.kernel.settings.run_within", lambda path, work: [])
    namespace = RecordedNamespace()
    LinuxRouterSettings(vlan=100).forwarder(LEDGER).build(namespace, 1500)
    lines = namespace.done
    added = lines.index("link add link port1 name port1.100 type vlan id 100")
    # A VLAN interface takes over the address that the other has when it is made.
    assert lines.index("link set port1 address 02:00:00:00:00:01") < added
    assert lines.index("link set port1.100 up") > added
    assert "route add 198.19.0.0/16 via 192.0.2.2 dev port1.100 onlink" in lines
    assert "/proc/sys/net/ipv4/conf/port0.100/rp_filter = 0" in lines
    assert "/proc/sys/net/ipv6/conf/port0.100/disable_ipv6 = 0" in lines


def test_what_will_not_write_tags_is_refused(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setattr("plimsoll.dut.kernel.settings.run_within", lambda path, work: work())
    monkeypatch.setattr(
        "plimsoll.dut.kernel.settings.turn_off_vlan_insertion", lambda port: port == "port1"
    )
    with pytest.raises(MachineError) as caught:
        add_vlan(RecordedNamespace(), 100, in_memory=True)
    assert caught.value == says("lab.vlan", "port0")


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        (
            {"kind": "linux-bridge", "vlan": 7},
            ("lab.vlan", "CONFIG_VLAN_8021Q", "modprobe 8021q"),
        ),
        (
            {"kind": "tc-redirect"},
            ("lab.classifier", "CONFIG_NET_CLS_FLOWER", "modprobe cls_flower"),
        ),
        (
            {"kind": "tc-redirect", "classifier": "u32"},
            ("CONFIG_NET_SCH_INGRESS", "modprobe sch_ingress"),
        ),
    ],
)
def test_what_the_kernel_lacks_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, document: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    monkeypatch.setattr("plimsoll.dut.needs.effective_capabilities", lambda: ALL_CAPABILITIES)
    monkeypatch.setattr(NeededProgram, "find", lambda self: self.name)
    # Of all options the kernel has u32 alone.
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: "U32" not in self.name)
    with pytest.raises(MachineError) as refused:
        ADAPTER.validate_python(document).check_machine()
    assert refused.value == says(*facts)


def test_settings_that_the_kernel_cannot_serve_are_listed(
    monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setattr(KernelOption, "is_missing", lambda self, root=None: True)
    monkeypatch.setattr(NeededProgram, "missing", False)
    assert LinuxBridgeSettings.needs().unavailable_settings() == (
        "vlan: VLAN interfaces (CONFIG_VLAN_8021Q)",
    )
    assert TcRedirectSettings.needs().missing() == says("CONFIG_NET_ACT_MIRRED")


@pytest.mark.parametrize("model", [LinuxBridgeSettings, LinuxRouterSettings, MacvlanSettings])
def test_what_an_ordinary_user_lacks_is_said(
    monkeypatch: pytest.MonkeyPatch, model: type[LabModel], says: Says
) -> None:
    monkeypatch.setattr(
        "plimsoll.dut.needs.effective_capabilities", lambda: frozenset({"CAP_NET_RAW"})
    )
    assert model.needs().missing()[:2] == ("CAP_NET_ADMIN", "CAP_SYS_ADMIN")
    with pytest.raises(MachineError) as refused:
        model.model_construct().check_machine()
    assert refused.value == says("CAP_NET_ADMIN", "CAP_SYS_ADMIN")


def test_a_missing_program_names_its_package(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    needs = LabNeeds(programs=(NeededProgram("no-such-program", "some-package"),), cpus=1)
    assert needs.missing() == ("no-such-program (package some-package)",)
    with pytest.raises(MachineError) as caught:
        needs.check()
    assert caught.value == says("no-such-program", "some-package")
    monkeypatch.setenv("PATH", "/proc/nonexistent")
    with pytest.raises(MachineError) as caught:
        ip_batch(("link show",))
    assert caught.value == says("package", "iproute2")


def test_needs_are_said_in_a_line(says: Says) -> None:
    needs = LabNeeds(
        ("CAP_NET_ADMIN",), ("veth", "bridge"), (NeededProgram("ip", "p"),), 2, hugepages=True
    )
    assert needs.in_words() == says("veth", "bridge", "2")
    assert LabNeeds().in_words() == "nothing"


def test_one_cpu_is_too_few_for_tester_and_dut(monkeypatch: pytest.MonkeyPatch, says: Says) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {3})
    assert LabNeeds(cpus=1).missing() == (says("2", "1"),)


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Error: Unknown device type.", ()),
        ("RTNETLINK answers: Operation not permitted", ()),
    ],
)
def test_what_the_kernel_refuses_is_said_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, facts: tuple[str, ...], says: Says
) -> None:
    program = tmp_path / "ip"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(MachineError) as refused:
        NetworkNamespace("plimsoll-000000").batch("link add x type macvlan")
    assert refused.value == says("link add x type macvlan", said, *facts)


def test_counters_are_read_from_what_ip_prints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    way = {"bytes": 640, "packets": 10, "errors": 1, "dropped": 2}
    link = {"ifname": "port0", "stats64": {"rx": way, "tx": {**way, "packets": 7, "dropped": 3}}}
    program = tmp_path / "ip"
    program.write_text(f"#!/bin/sh\necho '{json.dumps([{}, link])}'\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (counted,) = NetworkNamespace("plimsoll-000000").link_counters().values()
    assert (counted.rx_packets, counted.rx_dropped, counted.rx_errors) == (10, 2, 1)
    assert (counted.tx_packets, counted.tx_dropped) == (7, 3)


@pytest.mark.parametrize("name", ["plimsoll-../../etc", "cni-000000", "plimsoll-12345"])
def test_a_namespace_that_is_not_ours_is_never_removed(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(*_: str) -> None:
        raise AssertionError("nothing is to be deleted")

    monkeypatch.setattr("plimsoll.host.namespaces.network_namespace.ip", refuse)
    assert NetworkNamespace(name).remove() is False


def test_a_namespace_and_its_cables_are_named_after_their_ledger() -> None:
    namespace = NetworkNamespace.of("run-6a662e")
    assert namespace.name == "plimsoll-6a662e"
    # The kernel takes names of up to 15 characters.
    assert namespace.tester_end(1) == "pl6a662e-1"


def test_a_nominal_line_rate_is_known_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabNeeds, "check", lambda self: None)
    settings = ADAPTER.validate_python({"kind": "linux-bridge", "line_rate": "10Gbps"})
    assert settings.check_machine() == LineRate(10e9)
    assert LinuxBridgeSettings().check_machine() == LineRate(None)
    assert settings.directions == ((0, 1), (1, 0))
    assert settings.polled_cpus == (("lab.cpu", 1),)
