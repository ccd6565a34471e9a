"""Check 39. Outputs: ip-link(8) -json, ethtool(8) -i, devlink-dev(8) info."""

import json
from typing import Any

import pytest

from plimsoll.tune.audit.checks.aspm import CHECK as ASPM
from plimsoll.tune.audit.checks.flow_control import CHECK as FLOW_CONTROL
from plimsoll.tune.audit.checks.nic_driver import CHECK
from plimsoll.tune.audit.checks.nic_numa import CHECK as NIC_NUMA
from plimsoll.tune.audit.checks.pcie_link import CHECK as PCIE_LINK
from tests.unit.tune.audit.cards import ADDRESS, FILES, LINKS, LISTED, NET, NIC, PCI
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

# Columns as in net/ipv4/fib_trie.c; the default route leads by what is added below.
ROUTES = "/proc/net/route"
HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
IP = "ip -details -json link show dev ens7f0"
ETHTOOL = "ethtool -i ens7f0"
SAYS = (0, "driver: i40e\nversion: 6.12\nfirmware-version: 9.20 0x8000d95e 22.0.9\n")
VF = "0000:87:02.0"
VF_LINKS = {
    f"{PCI}/virtfn0": f"../{VF}",
    f"/sys/bus/pci/devices/{VF}/driver": "../../../../bus/pci/drivers/vfio-pci",
}
BOUND = NIC | {"driver": "vfio-pci"}
VF_NIC = NIC | {"num_vfs": 1, "driver": "vfio-pci", "trust": True, "spoofchk": False, "mtu": 9000}


def entry(**changed: Any) -> str:
    vf = {"vf": 0, "vlan_list": [{"vlan": 0}], "spoofchk": False, "trust": True} | changed
    return json.dumps([{"ifname": "ens7f0", "vfinfo_list": [vf]}])


def view(
    vf: str = "",
    *,
    mtu: str = "9000",
    vfs: str = "1",
    links: dict[str, str] | None = None,
    outputs: dict[str, tuple[int, str]] | None = None,
    uplink: str = "eno1",
) -> Any:
    routes = {ROUTES: f"{HEAD}{uplink}\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"}
    return host(
        CHECK,
        FILES | routes | {f"{NET}/mtu": mtu, f"{PCI}/sriov_numvfs": vfs},
        links=LINKS | VF_LINKS | (links or {}),
        listed=LISTED,
        outputs={ETHTOOL: SAYS, IP: (0, vf or entry())} | (outputs or {}),
    )


def test_as_requested_is_ok_and_the_firmware_recorded() -> None:
    finding = CHECK.judge(view(), intent(nics=[VF_NIC]))
    assert finding.verdict == "ok"
    assert any("firmware-version 9.20" in reading.what for reading in finding.read)


def test_trust_and_spoof_check_fail_where_they_differ(says: Says) -> None:
    finding = CHECK.judge(view(entry(trust=False, spoofchk=True)), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == [
        "ip link set dev ens7f0 vf 0 trust on",
        "ip link set dev ens7f0 vf 0 spoofchk off",
    ]


def test_a_vlan_that_differs_fails() -> None:
    requested = intent(nics=[VF_NIC | {"vlan": 100}])
    assert CHECK.judge(view(entry(vlan_list=[{"vlan": 100}])), requested).verdict == "ok"
    finding = CHECK.judge(view(), requested)
    assert finding.text == "VF 0 of ens7f0 has VLAN 0, not 100"


def test_a_small_mtu_fails(says: Says) -> None:
    finding = CHECK.judge(view(mtu="1500"), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == ["ip link set dev ens7f0 mtu 9000"]


def test_too_few_vfs_fail(says: Says) -> None:
    finding = CHECK.judge(view(vfs="0"), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert finding.text == says("ens7f0", "1")


def test_vfs_are_made_by_way_of_none_with_a_word_before(says: Says) -> None:
    requested = intent(nics=[VF_NIC | {"num_vfs": 4}])
    finding = CHECK.judge(view(vfs="2"), requested)
    assert finding.text == "ens7f0 has 2 VFs, not 4"
    assert [(step.kind, step.text) for step in finding.steps] == [
        (
            "advice",
            says("ens7f0", "2", "VFs"),
        ),
        ("command", f"echo 0 > {PCI}/sriov_numvfs"),
        ("advice", says("ens7f0")),
        ("command", f"echo 4 > {PCI}/sriov_numvfs"),
    ]
    # Where there are none, none has to go.
    assert commands(CHECK.judge(view(vfs="0"), requested)) == [f"echo 4 > {PCI}/sriov_numvfs"]


def test_on_openshift_vfs_and_their_settings_are_the_operators(says: Says) -> None:
    there = {"platform": "openshift", "pool": {"role": "worker"}}
    card = VF_NIC | {"num_vfs": 4, "resource_name": "east"}
    (step,) = CHECK.judge(view(vfs="1"), intent(nics=[card], **there)).steps
    assert step.kind == "advice"
    assert step.text == says(
        "SriovNetworkNodePolicy",
        "numVfs",
        "4",
        "-f",
        "2-network/50-sriov-policy-*.yaml",
        "plimsoll tune render",
    )
    one = VF_NIC | {"resource_name": "east"}
    finding = CHECK.judge(view(entry(spoofchk=True)), intent(nics=[one], **there))
    assert [step.text for step in finding.steps] == [
        says(
            "SriovNetwork",
            "spoofChk",
            "-f",
            "2-network/60-sriov-network-*.yaml",
            "plimsoll tune render",
        ),
        says("ens7f0", "0", "ip link set dev ens7f0 vf 0 spoofchk off"),
    ]


def test_a_vf_bound_to_the_wrong_driver_fails() -> None:
    bound = {f"/sys/bus/pci/devices/{VF}/driver": "../../../../bus/pci/drivers/iavf"}
    finding = CHECK.judge(view(links=bound), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == [f"dpdk-devbind.py --bind=vfio-pci {VF}"]


def test_a_port_that_is_used_itself(says: Says) -> None:
    assert CHECK.judge(view(), intent(nics=[NIC])).verdict == "ok"
    finding = CHECK.judge(view(), intent(nics=[NIC | {"driver": "vfio-pci"}]))
    assert finding.verdict == "fail"
    assert finding.text == says("ens7f0", "i40e")


def test_the_port_of_the_default_route_is_never_taken_away(says: Says) -> None:
    for there in ({}, {"platform": "openshift", "pool": {"role": "worker"}}):
        finding = CHECK.judge(view(uplink="ens7f0"), intent(nics=[BOUND], **there))
        assert finding.verdict == "fail"
        assert [(step.kind, step.text) for step in finding.steps] == [
            (
                "advice",
                says(str(ADDRESS)),
            )
        ]
    other = CHECK.judge(view(uplink="eno1"), intent(nics=[BOUND]))
    assert commands(other) == [f"dpdk-devbind.py --bind=vfio-pci {ADDRESS}"]


def test_nor_is_what_a_bond_with_the_default_route_is_built_upon(says: Says) -> None:
    bond = {f"{NET}/upper_bond0": "../../../../virtual/net/bond0"}
    finding = CHECK.judge(view(links=bond, uplink="bond0"), intent(nics=[BOUND]))
    assert commands(finding) == []
    assert finding.steps[0].text == says("bond0")


def test_a_guests_port_is_known_by_its_function(says: Says) -> None:
    """virtio's interface lies one directory deeper; the intent has its address."""
    address = "0000:00:03.0"
    links = {
        "/sys/class/net/eth0": f"../../devices/pci0000:00/{address}/virtio0/net/eth0",
        f"/sys/bus/pci/devices/{address}": f"../../../devices/pci0000:00/{address}",
        f"/sys/bus/pci/devices/{address}/driver": "../../../../bus/pci/drivers/virtio-pci",
    }
    requested = intent(nics=[{"name": "east", "pci": [address], "driver": "vfio-pci"}])
    finding = CHECK.judge(view(links=links, uplink="eth0"), requested)
    assert (finding.verdict, commands(finding)) == ("fail", [])
    assert finding.steps[0].text == says("0000:00:03.0")


def test_where_no_one_knows_the_routes_no_command_takes_a_port(says: Says) -> None:
    """As of a capture that older versions made."""
    finding = CHECK.judge(host(CHECK, FILES, links=LINKS, listed=LISTED), intent(nics=[BOUND]))
    assert commands(finding) == []
    assert finding.steps[0].text == says("0000:87:00.0", "/proc/net/route")


def test_a_vf_that_the_host_lives_by_is_kept(says: Says) -> None:
    links = {
        "/sys/class/net/ens7f0v0": f"../../devices/pci0000:80/{VF}/net/ens7f0v0",
        f"/sys/bus/pci/devices/{VF}/physfn": f"../{ADDRESS}",
        f"/sys/bus/pci/devices/{VF}/driver": "../../../../bus/pci/drivers/iavf",
    }
    for vfs, number in (("2", 4), ("1", 1)):
        requested = intent(nics=[VF_NIC | {"num_vfs": number}])
        finding = CHECK.judge(view(vfs=vfs, links=links, uplink="ens7f0v0"), requested)
        assert (finding.verdict, commands(finding)) == ("fail", [])
        assert any(f"{VF}" in step.text for step in finding.steps)
    # Without its driver the port has no VFs any more.
    finding = CHECK.judge(view(links=links, uplink="ens7f0v0"), intent(nics=[BOUND]))
    assert commands(finding) == []
    assert finding.steps[0].text == says(str(VF))


def test_a_port_of_two_names_is_changed_once() -> None:
    again = {"name": "west", "pci": [ADDRESS]}
    both = [BOUND, again | {"driver": "vfio-pci"}]
    assert commands(CHECK.judge(view(), intent(nics=both))) == [
        f"dpdk-devbind.py --bind=vfio-pci {ADDRESS}"
    ]
    four = {"num_vfs": 4, "driver": "vfio-pci"}
    divided = [NIC | four, again | four]
    finding = CHECK.judge(view(vfs="2"), intent(nics=divided))
    assert commands(finding) == [f"echo 0 > {PCI}/sriov_numvfs", f"echo 4 > {PCI}/sriov_numvfs"]


@pytest.mark.parametrize(
    ("requested", "found", "verdict"),
    [
        ("netdevice", "igb_uio", "fail"),
        ("netdevice", "uio_pci_generic", "fail"),
        ("netdevice", "mlx5_vfio_pci", "fail"),
        ("netdevice", "mlx5_core", "ok"),
        ("vfio-pci", "mlx5_vfio_pci", "ok"),
        ("vfio-pci", "igb_uio", "fail"),
    ],
)
def test_drivers_of_user_space_are_distinguished_from_the_kernels(
    requested: str, found: str, verdict: str
) -> None:
    links = {f"{PCI}/driver": f"../../../../bus/pci/drivers/{found}"}
    finding = CHECK.judge(view(links=links), intent(nics=[NIC | {"driver": requested}]))
    assert finding.verdict == verdict


def test_a_port_that_is_not_there_fails(says: Says) -> None:
    requested = intent(nics=[{"name": "west", "pf_names": ["ens9f9"]}])
    finding = CHECK.judge(view(), requested)
    assert finding.verdict == "fail"
    assert finding.text == says("ens9f9")
    requested = intent(nics=[{"name": "west", "vendor": "15b3", "device_id": "101d"}])
    assert CHECK.judge(view(), requested).text == says("vendor", "15b3", "101d")


def test_only_one_check_fails_for_a_port_that_is_not_there(says: Says) -> None:
    requested = intent(nics=[{"name": "west", "pf_names": ["ens9f9"]}])
    about_ports = [NIC_NUMA, PCIE_LINK, ASPM, FLOW_CONTROL, CHECK]
    online = {"/sys/devices/system/cpu/online": "0-7"}
    findings = [
        each.judge(host(each, online if each is NIC_NUMA else {}, links=LINKS), requested)
        for each in about_ports
    ]
    assert [each.verdict for each in findings] == ["not-applicable"] * 4 + ["fail"]
    assert len({each.text for each in findings[:4]}) == 1
    assert findings[0].text == says("ens9f9", "39")


WITHOUT_NAME = {path: to for path, to in LINKS.items() if path != NET}


def test_a_port_that_lost_its_name_to_vfio_is_unknown(says: Says) -> None:
    """Bound as requested, it has no interface any more by which to find it."""
    bare = host(CHECK, FILES, links=WITHOUT_NAME)
    finding = CHECK.judge(bare, intent(nics=[BOUND]))
    assert finding.verdict == "unknown"
    assert finding.text == says("nics.pci")
    # One that is to be divided keeps its interface.
    assert CHECK.judge(bare, intent(nics=[VF_NIC])).verdict == "fail"


def test_the_address_that_the_rendered_script_kept_finds_it(says: Says) -> None:
    kept = {"/run/plimsoll-ports/ens7f0": f"{ADDRESS}\n"}
    links = WITHOUT_NAME | {f"{PCI}/driver": "../../../../bus/pci/drivers/vfio-pci"}
    finding = CHECK.judge(host(CHECK, FILES | kept, links=links), intent(nics=[BOUND]))
    assert finding.verdict == "ok"
    assert finding.text == says("ens7f0", "vfio-pci")
    for nonsense in ("", "0000:99:00.0", "../../../etc/passwd"):
        odd = {"/run/plimsoll-ports/ens7f0": nonsense}
        finding = CHECK.judge(host(CHECK, FILES | odd, links=links), intent(nics=[BOUND]))
        assert finding.verdict == "unknown"


def test_a_setting_that_the_driver_does_not_show_is_unknown(says: Says) -> None:
    bare = json.dumps([{"vfinfo_list": [{"vf": 0, "trust": True}]}])
    finding = CHECK.judge(view(bare), intent(nics=[VF_NIC]))
    assert finding.verdict == "unknown"
    assert finding.text == says("0", "ip -details -json link show dev ens7f0")


def test_on_openshift_the_operator_sets_it() -> None:
    requested = intent(nics=[VF_NIC], platform="openshift", pool={"role": "worker"})
    finding = CHECK.judge(view(vfs="0"), requested)
    assert (finding.verdict, commands(finding)) == ("fail", [])
    assert "SriovNetworkNodePolicy" in finding.steps[-1].text


def test_an_e810_without_its_package_is_warned() -> None:
    links = {f"{PCI}/driver": "../../../../bus/pci/drivers/ice"}
    package = "pci/0000:87:00.0:\n  versions:\n    running:\n      fw.app.name ICE OS Default\n"
    # A name that is empty is none, whatever the next line says.
    bare = "pci/0000:87:00.0:\n      fw.app.name \n      fw.app 0.0.0.0\n"
    outputs = {"devlink dev info": (0, bare)}
    assert CHECK.judge(view(links=links, outputs=outputs), intent(nics=[NIC])).verdict == "warn"
    bare = "pci/0000:87:00.1:\n  fw.app.name ICE OS Default\npci/0000:87:00.0:\n  driver ice\n"
    for text, verdict in ((package, "ok"), (bare, "warn")):
        outputs = {"devlink dev info": (0, text)}
        finding = CHECK.judge(view(links=links, outputs=outputs), intent(nics=[NIC]))
        assert finding.verdict == verdict


def test_where_the_intent_has_no_nics_it_does_not_apply() -> None:
    assert CHECK.judge(view(), intent()).verdict == "not-applicable"


def test_what_cannot_be_read_is_unknown() -> None:
    for nonsense in ("no JSON", "[]", "{}", '[{"vfinfo_list": 7}]', '[{"vfinfo_list": [{}]}]'):
        assert CHECK.judge(view(nonsense), intent(nics=[VF_NIC])).verdict == "unknown"
    without = entry().replace('"vf": 0', '"vf": 5')
    assert CHECK.judge(view(without), intent(nics=[VF_NIC])).verdict == "unknown"
