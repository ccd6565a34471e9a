"""Check 36. Formats: Documentation/ABI/testing/sysfs-bus-pci, current_link_speed."""

from typing import Any

import pytest

from plimsoll.tune.audit.checks.pcie_link import CHECK
from tests.unit.tune.audit.cards import (
    ADDRESS,
    FILES,
    FULL_LINK,
    LINKS,
    LISTED,
    NIC,
    PCI,
    SLOT,
    link,
)
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CPUINFO, GUEST, INTEL
from tests.worded.says import Says

INTENT = intent(nics=[NIC])


def view(links_files: dict[str, str]) -> Any:
    return host(CHECK, {CPUINFO: INTEL} | FILES | links_files, links=LINKS, listed=LISTED)


def test_the_whole_link_is_ok() -> None:
    assert CHECK.judge(view(FULL_LINK), INTENT).verdict == "ok"


def test_a_link_that_came_up_narrow_fails(says: Says) -> None:
    half = link(ADDRESS, ("8.0", "4"), ("8.0", "8")) | link(SLOT, ("8.0", "4"), ("16.0", "16"))
    finding = CHECK.judge(view(half), INTENT)
    assert finding.verdict == "fail"
    assert finding.text == says("ens7f0:", "8 GT/s x4", "8 GT/s x8")


def test_all_that_a_small_slot_gives_is_warned(says: Says) -> None:
    small = link(ADDRESS, ("8.0", "4"), ("8.0", "8")) | link(SLOT, ("8.0", "4"), ("16.0", "4"))
    finding = CHECK.judge(view(small), INTENT)
    assert finding.verdict == "warn"
    assert finding.text == says()


def test_a_link_slower_than_its_port_fails(says: Says) -> None:
    """5 GT/s on 4 lanes by 8b/10b is 16 Gbps."""
    slow = link(ADDRESS, ("5.0", "4"), ("5.0", "4"))
    finding = CHECK.judge(view(slow), intent(nics=[NIC | {"link_speed_gbps": 25}]))
    assert finding.verdict == "fail"
    assert finding.text == says("16.0", "25")
    # 8 GT/s on 8 lanes by 128b/130b is 63 Gbps.
    enough = intent(nics=[NIC | {"link_speed_gbps": 25}])
    assert CHECK.judge(view(FULL_LINK), enough).verdict == "ok"


OTHER = ADDRESS.replace(".0", ".1")
TWO_PORTS = {
    "/sys/class/net/ens7f1": LINKS["/sys/class/net/ens7f0"].replace("00.0/", "00.1/")[:-1] + "1",
}


@pytest.mark.parametrize(("generation", "verdict"), [("8.0", "warn"), ("16.0", "ok")])
def test_two_ports_of_a_card_share_its_link(generation: str, verdict: str) -> None:
    """16 lanes carry 126 Gbps at 8 GT/s and 252 at 16 (128b/130b); the ports are 200."""
    files = {CPUINFO: INTEL} | FILES
    for address in (ADDRESS, OTHER):
        files |= link(address, (generation, "16"), (generation, "16"))
    both = {"name": "east", "pf_names": ["ens7f0", "ens7f1"], "link_speed_gbps": 100}
    finding = CHECK.judge(
        host(CHECK, files, links=LINKS | TWO_PORTS, listed=LISTED), intent(nics=[both])
    )
    assert finding.verdict == verdict
    message = "ens7f0 and ens7f1 share a link that carries 126.0 Gbps, and are 200 together"
    assert (message in finding.text) == (verdict == "warn")


def test_a_guests_link_is_its_hypervisors(says: Says) -> None:
    """QEMU shows 2.5 GT/s x1 for virtio, whatever the card below."""
    made_up = link(ADDRESS, ("2.5", "1"), ("2.5", "1")) | {CPUINFO: GUEST}
    finding = CHECK.judge(view(made_up), intent(nics=[NIC | {"link_speed_gbps": 100}]))
    assert finding.verdict == "not-applicable"
    assert finding.text == says()


def test_without_a_link_it_does_not_apply() -> None:
    assert CHECK.judge(view({}), INTENT).verdict == "not-applicable"
    unknown_speed = FULL_LINK | {f"{PCI}/current_link_speed": "Unknown"}
    assert CHECK.judge(view(unknown_speed), INTENT).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    where = f"{PCI}/current_link_speed"
    files = {CPUINFO: INTEL} | FILES | FULL_LINK
    del files[where]
    hidden = host(CHECK, files, links=LINKS, listed=LISTED, forbidden=[where])
    assert CHECK.judge(hidden, INTENT).verdict == "unknown"
