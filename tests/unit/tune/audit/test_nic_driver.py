"""Check 39. Outputs: ip-link(8) -json, ethtool(8) -i, devlink-dev(8) info."""

import json
from typing import Any

from plimsoll.tune.audit.checks.nic_driver import CHECK
from tests.unit.tune.audit.cards import FILES, LINKS, LISTED, NET, NIC, PCI
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent

IP = "ip -details -json link show dev ens7f0"
ETHTOOL = "ethtool -i ens7f0"
SAYS = (0, "driver: i40e\nversion: 6.12\nfirmware-version: 9.20 0x8000d95e 22.0.9\n")
VF = "0000:87:02.0"
VF_LINKS = {
    f"{PCI}/virtfn0": f"../{VF}",
    f"/sys/bus/pci/devices/{VF}/driver": "../../../../bus/pci/drivers/vfio-pci",
}
VF_NIC = NIC | {"num_vfs": 1, "driver": "vfio-pci", "trust": True, "spoofchk": False, "mtu": 9000}


def entry(**changed: Any) -> str:
    vf = {"vf": 0, "vlan_list": [{"vlan": 0}], "spoofchk": False, "trust": True} | changed
    return json.dumps([{"ifname": "ens7f0", "vfinfo_list": [vf]}])


def view(
    vf: str = "",
    mtu: str = "9000",
    vfs: str = "1",
    links: dict[str, str] | None = None,
    outputs: dict[str, tuple[int, str]] | None = None,
) -> Any:
    return host(
        CHECK,
        FILES | {f"{NET}/mtu": mtu, f"{PCI}/sriov_numvfs": vfs},
        links=LINKS | VF_LINKS | (links or {}),
        listed=LISTED,
        outputs={ETHTOOL: SAYS, IP: (0, vf or entry())} | (outputs or {}),
    )


def test_as_asked_is_ok_and_the_firmware_recorded() -> None:
    finding = CHECK.judge(view(), intent(nics=[VF_NIC]))
    assert finding.verdict == "ok"
    assert any("firmware-version 9.20" in reading.what for reading in finding.read)


def test_trust_and_spoof_check_fail_where_they_differ() -> None:
    finding = CHECK.judge(view(entry(trust=False, spoofchk=True)), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == [
        "ip link set dev ens7f0 vf 0 trust on",
        "ip link set dev ens7f0 vf 0 spoofchk off",
    ]


def test_a_vlan_that_differs_fails() -> None:
    asked = intent(nics=[VF_NIC | {"vlan": 100}])
    assert CHECK.judge(view(entry(vlan_list=[{"vlan": 100}])), asked).verdict == "ok"
    finding = CHECK.judge(view(), asked)
    assert finding.text == "VF 0 of ens7f0 has VLAN 0, not 100"


def test_a_small_mtu_fails() -> None:
    finding = CHECK.judge(view(mtu="1500"), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == ["ip link set dev ens7f0 mtu 9000"]


def test_too_few_vfs_fail() -> None:
    finding = CHECK.judge(view(vfs="0"), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert "ens7f0 has no VFs, not 1" in finding.text


def test_a_vf_bound_to_the_wrong_driver_fails() -> None:
    bound = {f"/sys/bus/pci/devices/{VF}/driver": "../../../../bus/pci/drivers/iavf"}
    finding = CHECK.judge(view(links=bound), intent(nics=[VF_NIC]))
    assert finding.verdict == "fail"
    assert commands(finding) == [f"dpdk-devbind.py --bind=vfio-pci {VF}"]


def test_a_port_that_is_used_itself() -> None:
    assert CHECK.judge(view(), intent(nics=[NIC])).verdict == "ok"
    finding = CHECK.judge(view(), intent(nics=[NIC | {"driver": "vfio-pci"}]))
    assert finding.verdict == "fail"
    assert "ens7f0 is bound to i40e" in finding.text


def test_an_e810_without_its_package_is_warned() -> None:
    links = {f"{PCI}/driver": "../../../../bus/pci/drivers/ice"}
    package = "pci/0000:87:00.0:\n  versions:\n    running:\n      fw.app.name ICE OS Default\n"
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
