"""The functions that a host lives by. Columns of routes as in net/ipv4/fib_trie.c."""

from collections.abc import Mapping

from plimsoll.terminal.options.bmc_options import HostWithBios
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.ports.uplinks import ROUTES, uplink_functions
from plimsoll.tune.host.view.host_view import BiosAnswer

HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT"
# The default by eno1, 192.168.0.0/24 by eno2.
TABLE = f"""{HEAD}
eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0
eno2\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
"""
LINKS = {
    f"/sys/class/net/eno{n}": f"../../devices/pci0000:00/0000:00:0{n}.0/net/eno{n}" for n in (1, 2)
}


class SshHost(CapturedHost):
    """A host that is reached by ssh from 192.168.0.7."""

    def session(self) -> Mapping[str, str]:
        return {"SSH_CONNECTION": "192.168.0.7 50000 192.168.0.2 22"}


def test_the_default_route_and_the_session_are_known_by_their_functions() -> None:
    files = {ROUTES: TABLE}
    default = {"0000:00:01.0": "it carries the default route"}
    assert uplink_functions(CapturedHost(files=files, links=LINKS)) == default
    both = default | {"0000:00:02.0": "it carries this SSH session"}
    requested = SshHost(files=files, links=LINKS)
    assert uplink_functions(requested) == both
    answer = BiosAnswer(
        where="https://bmc/redfish/v1/Systems/1/Bios",
        manufacturer="a",
        model="b",
        bios_version="1",
        vendor=None,
        attributes={},
    )
    assert uplink_functions(HostWithBios(requested, answer)) == both


def test_a_port_of_open_vswitch_carries_what_its_bridge_does() -> None:
    """net/openvswitch/vport-netdev.c links ports to the datapath, internal ones (br-ex) not."""
    net = "/sys/class/net"
    virtual = {f"{net}/br-ex": "../../devices/virtual/net/br-ex"}
    links = LINKS | virtual | {f"{net}/eno2/upper_ovs-system": "../../../../virtual/net/ovs-system"}
    files = {ROUTES: TABLE.replace("eno1", "br-ex")}
    assert uplink_functions(CapturedHost(files=files, links=links)) == {}
    there = links | {f"{net}/ovs-system": "../../devices/virtual/net/ovs-system"}
    found = uplink_functions(CapturedHost(files=files, links=there))
    assert list(found) == ["0000:00:02.0"]
    # A bond is linked to its own members, and Open vSwitch's ports are free of it.
    bond = there | {f"{net}/eno1/upper_bond0": "../../../../virtual/net/bond0"}
    bond |= {f"{net}/bond0": "../../devices/virtual/net/bond0"}
    files = {ROUTES: TABLE.replace("eno1", "bond0")}
    assert list(uplink_functions(CapturedHost(files=files, links=bond))) == ["0000:00:01.0"]
