"""Check 36. Formats: Documentation/ABI/testing/sysfs-bus-pci, current_link_speed."""

from typing import Any

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

ASKED = intent(nics=[NIC])


def view(links_files: dict[str, str]) -> Any:
    return host(CHECK, FILES | links_files, links=LINKS, listed=LISTED)


def test_the_whole_link_is_ok() -> None:
    assert CHECK.judge(view(FULL_LINK), ASKED).verdict == "ok"


def test_a_link_that_came_up_narrow_fails() -> None:
    half = link(ADDRESS, ("8.0", "4"), ("8.0", "8")) | link(SLOT, ("8.0", "4"), ("16.0", "16"))
    finding = CHECK.judge(view(half), ASKED)
    assert finding.verdict == "fail"
    assert finding.text == "ens7f0: the link came up as 8 GT/s x4 of 8 GT/s x8"


def test_all_that_a_small_slot_gives_is_warned() -> None:
    small = link(ADDRESS, ("8.0", "4"), ("8.0", "8")) | link(SLOT, ("8.0", "4"), ("16.0", "4"))
    finding = CHECK.judge(view(small), ASKED)
    assert finding.verdict == "warn"
    assert "all that its slot gives" in finding.text


def test_a_link_slower_than_its_port_fails() -> None:
    """5 GT/s on 4 lanes by 8b/10b is 16 Gbit/s."""
    slow = link(ADDRESS, ("5.0", "4"), ("5.0", "4"))
    finding = CHECK.judge(view(slow), intent(nics=[NIC | {"link_speed_gbps": 25}]))
    assert finding.verdict == "fail"
    assert "carries 16.0 Gbit/s, less than the port's 25" in finding.text
    # 8 GT/s on 8 lanes by 128b/130b is 63 Gbit/s.
    enough = intent(nics=[NIC | {"link_speed_gbps": 25}])
    assert CHECK.judge(view(FULL_LINK), enough).verdict == "ok"


def test_a_guest_has_no_link() -> None:
    assert CHECK.judge(view({}), ASKED).verdict == "not-applicable"
    unknown_speed = FULL_LINK | {f"{PCI}/current_link_speed": "Unknown"}
    assert CHECK.judge(view(unknown_speed), ASKED).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    where = f"{PCI}/current_link_speed"
    files = {name: text for name, text in (FILES | FULL_LINK).items() if name != where}
    hidden = host(CHECK, files, links=LINKS, listed=LISTED, forbidden=[where])
    assert CHECK.judge(hidden, ASKED).verdict == "unknown"
