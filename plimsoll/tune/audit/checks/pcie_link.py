"""36: whether the card's PCIe link is as fast and as wide as it can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    ok,
    warn,
    worst_of,
)
from plimsoll.tune.audit.ports.nic_ports import (
    PORT_LINK_READS,
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    NicPort,
    judge_links,
)
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.ports.pcie_link import PcieLink, read_link
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    found: dict[str, tuple[NicPort, PcieLink]] = {}

    def judged(port: NicPort, link: PcieLink) -> CheckJudgement:
        found[port.address or port.name] = port, link
        slot = read_link(view, port.upstream) if port.upstream else None
        return worst_of(_judge_link(port, link, slot))

    each = judge_links(view, intent, judged)
    return worst_of((each, *_shared(found)))


def _shared(found: Mapping[str, tuple[NicPort, PcieLink]]) -> Iterator[CheckJudgement]:
    """Ports of one card, functions of one PCI device, have one link between them."""
    cards: dict[str, list[tuple[NicPort, PcieLink]]] = {}
    for address, each in found.items():
        cards.setdefault(address.rpartition(".")[0], []).append(each)
    for card in cards.values():
        needed = sum(port.nic.link_speed_gbps or 0 for port, _ in card)
        link = card[0][1]
        if len(card) > 1 and needed > link.gbps:
            names = " and ".join(port.name for port, _ in card)
            yield warn(
                f"{names} share a link that carries {link.gbps:.1f} Gbps, and are {needed} "
                "together",
                Reading(link.path, str(link)),
                expected=f"more than {needed} Gbps of PCIe for {names}",
                steps=[advice("use one port of the card, or a faster or wider slot")],
            )


def _judge_link(port: NicPort, link: PcieLink, slot: PcieLink | None) -> Iterator[CheckJudgement]:
    read = Reading(link.path, str(link))
    expected = f"{port.name} at {link.most_speed:g} GT/s x{link.most_width}"
    if (link.speed, link.width) == (link.most_speed, link.most_width):
        yield ok(f"{port.name}: {link}", read, expected=expected)
    elif slot is not None and _is_all(link, slot):
        yield warn(
            f"{port.name}: {link}, which is all that its slot gives",
            read,
            Reading(slot.path, str(slot)),
            expected=expected,
            steps=[advice("put the card into a faster or wider slot")],
        )
    else:
        yield fail(
            f"{port.name}: the link came up as {link}",
            read,
            expected=expected,
            steps=[advice("reseat the card; see the slot's settings in the firmware, and risers")],
        )
    needed = port.nic.link_speed_gbps
    if needed is not None and link.gbps < needed:
        yield fail(
            f"{port.name}: the link carries {link.gbps:.1f} Gbps, less than the port's {needed}",
            read,
            expected=f"more than {needed} Gbps of PCIe for {port.name}",
            steps=[advice("put the card into a faster or wider slot")],
        )


def _is_all(link: PcieLink, slot: PcieLink) -> bool:
    """Whether it is as much as both ends can."""
    return link.speed == min(link.most_speed, slot.most_speed) and link.width == min(
        link.most_width, slot.most_width
    )


CHECK = Check(
    number=36,
    name="pcie-link",
    group="nic",
    title="The card has its full PCIe link",
    reads=(*PORT_READS, *PORT_LINK_READS),
    links=PORT_LINKS,
    lists=PORT_LISTS,
    why=(
        "A card in a slot of half its lanes, or whose link came up at a lower speed, drops "
        "frames at loads that it could carry: 64-byte frames cost the bus descriptors and "
        "headers as well, far more than their own bits."
    ),
    fix="Use a slot with the card's lanes and generation; reseat the card; check bifurcation.",
    sources=(
        "Linux, Documentation/ABI/testing/sysfs-bus-pci: current_link_speed, max_link_speed",
        "DPDK, Getting Started Guide for Linux: How to get best performance with NICs",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)
