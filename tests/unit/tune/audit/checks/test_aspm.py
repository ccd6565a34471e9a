"""Check 37. Formats: sysfs-bus-pci (link/l1_aspm), pcie_aspm's policy, lspci(8)."""

from typing import Any

import pytest

from plimsoll.tune.audit.checks.aspm import CHECK
from tests.unit.tune.audit.cards import ADDRESS, FILES, FULL_LINK, LINKS, LISTED, NIC, PCI
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CPUINFO, GUEST, INTEL
from tests.worded.says import Says

INTENT = intent(nics=[NIC])
POLICY = "/sys/module/pcie_aspm/parameters/policy"
LSPCI = "lspci -D -vv"
MACHINE = {CPUINFO: INTEL}


def view(files: dict[str, str], lspci: str = "") -> Any:
    outputs = {LSPCI: (0, lspci)} if lspci else {}
    return host(
        CHECK, MACHINE | FILES | FULL_LINK | files, links=LINKS, listed=LISTED, outputs=outputs
    )


def message(aspm: str) -> str:
    """Two functions; the other one's link sleeps."""
    return (
        "0000:00:1c.0 PCI bridge: Intel Corporation Device\n"
        "\t\tLnkCtl:\tASPM L1 Enabled; RCB 64 bytes\n"
        "\n"
        f"{ADDRESS} Ethernet controller: Intel Corporation Ethernet Controller XXV710\n"
        f"\t\tLnkCtl:\tASPM {aspm}; RCB 64 bytes, Disabled- CommClk+\n"
    )


def test_states_that_are_off_are_ok() -> None:
    states = {f"{PCI}/link/l0s_aspm": "0\n", f"{PCI}/link/l1_aspm": "0\n"}
    # The link's own word counts, whatever the policy.
    policy = {POLICY: "default performance [powersave] powersupersave"}
    assert CHECK.judge(view(states | policy), INTENT).verdict == "ok"


def test_a_state_that_is_on_fails() -> None:
    states = {f"{PCI}/link/l0s_aspm": "0\n", f"{PCI}/link/l1_aspm": "1\n"}
    finding = CHECK.judge(view(states), INTENT)
    assert finding.verdict == "fail"
    assert commands(finding) == [f"echo 0 > {PCI}/link/l1_aspm"]


@pytest.mark.parametrize(("aspm", "verdict"), [("Disabled", "ok"), ("L1 Enabled", "fail")])
def test_lspci_tells_where_the_kernel_does_not(aspm: str, verdict: str) -> None:
    assert CHECK.judge(view({}, message(aspm)), INTENT).verdict == verdict


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        ("default [performance] powersave powersupersave", "ok"),
        ("default performance [powersave] powersupersave", "warn"),
        ("[default] performance powersave powersupersave", "unknown"),
    ],
)
def test_the_policy_is_the_last_resort(policy: str, verdict: str) -> None:
    unprivileged = f"{ADDRESS} Ethernet controller: Intel\n\tCapabilities: <access denied>\n"
    assert CHECK.judge(view({POLICY: policy}, unprivileged), INTENT).verdict == verdict


def test_where_nothing_tells_it_is_unknown() -> None:
    assert CHECK.judge(view({}), INTENT).verdict == "unknown"


def test_where_sleep_is_expected_it_does_not_apply() -> None:
    requested = intent(nics=[NIC], bios={"aspm": True})
    assert CHECK.judge(view({}), requested).verdict == "not-applicable"
    assert CHECK.judge(view({}), intent()).verdict == "not-applicable"
    no_link = host(CHECK, MACHINE | FILES, links=LINKS, listed=LISTED)
    assert CHECK.judge(no_link, INTENT).verdict == "not-applicable"


def test_a_guests_link_is_its_hypervisors(says: Says) -> None:
    asleep = {CPUINFO: GUEST, f"{PCI}/link/l1_aspm": "1\n"}
    finding = CHECK.judge(view(asleep), INTENT)
    assert finding.verdict == "not-applicable"
    assert finding.text == says("ens7f0")
