"""What captures keep of commands' outputs, and that they are judged as the whole.

Outputs: ethtool(8), ip-link(8) -json, devlink-dev(8) info, lspci(8) -vv, with what is private
in them made up: every such word is hunter2.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from plimsoll.cli.tune.capture import needed_files
from plimsoll.tune.audit.audit import audit
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.collect import collect, kept_output
from plimsoll.tune.host.view.commands import commands_of
from plimsoll.tune.host.view.host_view import CommandOutput
from tests.unit.tune.audit.cards import ADDRESS, FILES, FULL_LINK, LINKS, NET, NIC, PCI
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import booted
from tests.worded.says import Says

NOW = datetime(2026, 11, 22, 8, 30, tzinfo=UTC)
ETHTOOL_I, ETHTOOL_A = "ethtool -i ens7f0", "ethtool -a ens7f0"
IP = "ip -details -json link show dev ens7f0"
DEVLINK, LSPCI, VERIFY = "devlink dev info", "lspci -D -vv", "tuned-adm verify"
SAID = {
    ETHTOOL_I: "driver: ice\nversion: 6.12\nfirmware-version: 4.40 0x8001c7d4\n"
    "expansion-rom-version: hunter2\nbus-info: hunter2\nsupports-statistics: yes",
    ETHTOOL_A: "Pause parameters for ens7f0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n"
    "RX negotiated:\toff\nTX negotiated:\toff",
    IP: json.dumps(
        [
            {
                "ifname": "ens7f0",
                "ifalias": "hunter2",
                "address": "hunter2",
                "vfinfo_list": [
                    {"vf": 0, "mac": "hunter2", "vlan_list": [{"vlan": 7, "qos": 0}], "trust": True}
                    | {"spoofchk": True},
                    {"vf": 1, "mac": "hunter2", "vlan_list": [{}], "spoofchk": False},
                ],
            }
        ]
    ),
    DEVLINK: f"pci/{ADDRESS}:\n  driver ice\n  serial_number hunter2\n  versions:\n"
    "      fixed:\n        board.id hunter2\n      running:\n        fw.mgmt 7.4.13\n"
    "        fw.app.name ICE OS Default Package\n        fw.app 1.3.36.0",
    LSPCI: "0000:00:00.0 Host bridge: hunter2\n\tSubsystem: hunter2\n\n"
    f"{ADDRESS} Ethernet controller: E810\n\tCapabilities: [70] Express (v2) Endpoint\n"
    "\t\tDevCtl:\tCorrErr+\n\t\t\tMaxPayload 512 bytes, MaxReadReq 256 bytes\n"
    "\t\tLnkCtl:\tASPM L1 Enabled; RCB 64 bytes\n"
    "\tCapabilities: [e0] Vital Product Data\n\t\t[SN] Serial number: hunter2\n"
    "\tCapabilities: [148] Device Serial Number hunter2",
    VERIFY: "hunter2\nVerification failed, current system settings differ from the preset profile.",
}
# What they print where they cannot tell.
COMPLAINED = {
    ETHTOOL_I: "Cannot get driver information: Operation not supported",
    ETHTOOL_A: "Pause parameters for ens7f0:\nnetlink error: Operation not supported",
    IP: 'Device "ens7f0" does not exist.',
    DEVLINK: "kernel answers: Operation not permitted",
    LSPCI: f"{ADDRESS} Ethernet controller: E810\n\tCapabilities: <access denied>",
    VERIFY: "",
}
VFS = {f"{PCI}/virtfn{n}": f"../0000:87:02.{n}" for n in (0, 1)} | {
    f"/sys/bus/pci/devices/0000:87:02.{n}/driver": "../../vfio-pci" for n in (0, 1)
}
INTENT = intent(
    nics=[
        NIC
        | {"num_vfs": 2, "driver": "vfio-pci", "trust": True, "spoofchk": False, "vlan": 7}
        | {"mtu": 9000}
    ],
    services={"tuned": True},
)


def card(said: dict[str, str], status: int) -> CapturedHost:
    """An E810 with two VFs, as the whole outputs tell of it."""
    return CapturedHost(
        files=booted("isolcpus=2-7")
        | FILES
        | FULL_LINK
        | {f"{PCI}/sriov_numvfs": "2", f"{NET}/mtu": "9000"}
        | {"/etc/tuned/active_profile": "cpu-partitioning"},
        links=LINKS | VFS | {f"{PCI}/driver": "../ice", f"{NET}/device": f"../../../{ADDRESS}"},
        listed={f"{PCI}/net": ("ens7f0",)},
        outputs={command: CommandOutput(status, text) for command, text in said.items()},
    )


@pytest.mark.parametrize(("said", "status"), [(SAID, 0), (SAID, 1), (COMPLAINED, 1), ({}, 0)])
def test_a_capture_is_judged_as_the_whole_outputs(said: dict[str, str], status: int) -> None:
    whole = card(said, status)
    capture = collect(whole, needed_files(), NOW)
    assert set(capture.manifest.outputs) == set(said)
    message, again = (
        {each.number: asdict(each) for each in audit(view, INTENT).findings}
        for view in (whole, capture.view(whole.where))
    )
    assert again == message
    assert "hunter2" not in capture.manifest.model_dump_json()


def test_and_what_was_compared_was_judged(says: Says) -> None:
    found = {each.number: each for each in audit(card(SAID, 0), INTENT).findings}
    assert "ASPM L1 Enabled" in found[37].text
    assert "256 bytes" in found[38].text
    assert "declines" in found[38].text
    assert found[39].text == says("0", "ens7f0", "1", "ip -details -json link show dev ens7f0")
    assert any("ICE OS Default Package" in reading.what for reading in found[39].read)


@pytest.mark.parametrize("command", sorted(SAID))
def test_keeping_twice_changes_nothing_more(command: str) -> None:
    for said in (SAID, COMPLAINED):
        once = kept_output(command, said[command])
        assert kept_output(command, once) == once


def test_every_command_that_a_check_asks_has_its_rule() -> None:
    for form in needed_files().commands:
        for command in commands_of(form, ("ens7f0",)):
            assert kept_output(command, "") == ""


def test_of_a_command_without_a_rule_nothing_is_taken(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        kept_output("ethtool -k ens7f0", "hunter2")
    assert caught.value == says()


@pytest.mark.parametrize("text", ["[]", "{}", "7", '[{"vfinfo_list": 7}]', "[" * 5000])
def test_of_what_is_no_answer_of_ips_nothing_is_taken(text: str) -> None:
    assert kept_output(IP, text) == ""
