"""Check 38. Outputs: ethtool(8) -a, lspci(8) -vv."""

from typing import Any

import pytest

from plimsoll.tune.audit.checks.flow_control import CHECK
from tests.unit.tune.audit.cards import ADDRESS, FILES, FULL_LINK, LINKS, LISTED, NIC, VIRTIO_LINKS
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CPUINFO, GUEST, INTEL
from tests.worded.says import Says

INTENT = intent(nics=[NIC])
MACHINE = {CPUINFO: INTEL}


def pause(rx: str, tx: str) -> str:
    return f"Pause parameters for ens7f0:\nAutonegotiate:\toff\nRX:\t\t{rx}\nTX:\t\t{tx}\n"


def lspci(size: int) -> str:
    return (
        f"{ADDRESS} Ethernet controller: Intel Corporation Ethernet Controller XXV710\n"
        "\t\tDevCtl:\tCorrErr- NonFatalErr- FatalErr- UnsupReq-\n"
        f"\t\t\tMaxPayload 256 bytes, MaxReadReq {size} bytes\n"
    )


def view(rx: str, tx: str, size: int = 512) -> Any:
    outputs = {"ethtool -a ens7f0": (0, pause(rx, tx)), "lspci -D -vv": (0, lspci(size))}
    return host(CHECK, MACHINE | FILES | FULL_LINK, links=LINKS, listed=LISTED, outputs=outputs)


def test_off_and_the_kernels_size_is_ok() -> None:
    assert CHECK.judge(view("off", "off"), INTENT).verdict == "ok"


@pytest.mark.parametrize(("rx", "tx"), [("on", "off"), ("off", "on"), ("on", "on")])
def test_pause_frames_fail(rx: str, tx: str, says: Says) -> None:
    finding = CHECK.judge(view(rx, tx), INTENT)
    assert finding.verdict == "fail"
    assert commands(finding) == ["ethtool -A ens7f0 rx off tx off"]


@pytest.mark.parametrize(("negotiated", "verdict"), [("off", "warn"), ("on", "fail")])
def test_pause_frames_that_the_peer_declines_are_warned(
    negotiated: str, verdict: str, says: Says
) -> None:
    """ethtool adds what both ends agreed on where they negotiate."""
    agreed = f"RX negotiated: {negotiated}\nTX negotiated: {negotiated}\n"
    outputs = {
        "ethtool -a ens7f0": (0, pause("on", "on") + agreed),
        "lspci -D -vv": (0, lspci(512)),
    }
    message = host(CHECK, MACHINE | FILES | FULL_LINK, links=LINKS, listed=LISTED, outputs=outputs)
    finding = CHECK.judge(message, INTENT)
    assert finding.verdict == verdict
    assert commands(finding) == ["ethtool -A ens7f0 rx off tx off"]


def test_a_guests_read_requests_are_its_hypervisors() -> None:
    """A VF's own field is not used: PCI Express Base Specification, SR-IOV, Device Control."""
    outputs = {"ethtool -a ens7f0": (0, pause("off", "off")), "lspci -D -vv": (0, lspci(128))}
    files = {CPUINFO: GUEST} | FILES | FULL_LINK
    guest = host(CHECK, files, links=LINKS, listed=LISTED, outputs=outputs)
    assert CHECK.judge(guest, INTENT).verdict == "ok"


def test_small_read_requests_are_warned(says: Says) -> None:
    finding = CHECK.judge(view("off", "off", 256), INTENT)
    assert finding.verdict == "warn"
    assert finding.text == says("ens7f0", "256")


def test_a_guests_interface_has_no_flow_control() -> None:
    said = {"ethtool -a ens7f0": (1, "netlink error: Operation not supported")}
    guest = host(CHECK, {}, links=VIRTIO_LINKS, outputs=said)
    assert CHECK.judge(guest, INTENT).verdict == "ok"


def test_where_the_intent_has_no_nics_it_does_not_apply() -> None:
    assert CHECK.judge(view("on", "on"), intent()).verdict == "not-applicable"


def test_without_ethtool_it_is_unknown() -> None:
    bare = host(CHECK, MACHINE | FILES | FULL_LINK, links=LINKS, listed=LISTED)
    assert CHECK.judge(bare, INTENT).verdict == "unknown"
    denied = f"{ADDRESS} Ethernet controller: Intel\n\tCapabilities: <access denied>\n"
    outputs = {"ethtool -a ens7f0": (0, pause("off", "off")), "lspci -D -vv": (0, denied)}
    unprivileged = host(
        CHECK, MACHINE | FILES | FULL_LINK, links=LINKS, listed=LISTED, outputs=outputs
    )
    assert CHECK.judge(unprivileged, INTENT).verdict == "unknown"
