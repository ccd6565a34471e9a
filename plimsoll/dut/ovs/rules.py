"""OpenFlow rules of a lab's bridge: two, or a table of up to a hundred thousand; with VLAN tags."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from plimsoll.dut.guest.chain import Chain, joined
from plimsoll.dut.ovs.instance import BRIDGE, OvsInstance
from plimsoll.errors import MachineError
from plimsoll.text.mistakes import mistake

# "cross": what comes in at one port goes out of the other. "normal": the switch learns MACs.
# A number: so many rules, each of which sends the packets to one IPv4 address on.
Rules = Literal["cross", "normal"] | Annotated[StrictInt, Field(ge=2, le=100_000)]
PushedTag = Annotated[StrictInt, Field(ge=1, le=4094)]
# Outermost first.
PushedTags = Annotated[tuple[PushedTag, ...], Field(max_length=2)]

# So that rules see behind two tags, and not only behind one (vswitchd.conf.db(5)).
VLAN_LIMIT = {"vlan-limit": "2"}

# Of a profile's streams, as they count up by default: behind port 1, and behind port 0.
_FIRST_DESTINATIONS = (IPv4Address("198.19.0.1"), IPv4Address("198.18.0.1"))
_NORMAL = "actions=NORMAL"
# Of more rules the record has the number.
_MAX_SHOWN = 64
_VLAN_PRESENT = 0x1000
_TAGGED = "vlan_vid=0x1000/0x1000"
_ETHERTYPES = {"inner": "0x8100", "outer": "0x88a8"}
# What of a rule that was read back is not its maker's.
_COUNTED = re.compile(r"\s*(?:cookie|duration|table|n_packets|n_bytes|idle_age|hard_age)=[^,]+,?")
_AGGREGATE = re.compile(r"packet_count=(\d+) byte_count=\d+ flow_count=(\d+)")


@dataclass(frozen=True, slots=True)
class Installed:
    """How many rules were installed, in how much time."""

    rules: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What the switch says of all its rules together: their number, and the packets that hit."""

    rules: int
    packets: int


def check_rules(
    chain: Chain, rules: Rules, tags: tuple[int, ...], *, tunnelled: bool = False
) -> None:
    """Raise a mistake where no rule could put the tags on, or where guests would be passed by."""
    if chain != "p2p" and tunnelled:
        raise mistake("a tunnel leads past the guests", "use chain: p2p, or remove vxlan")
    if chain != "p2p" and not joins_ports(rules, tags):
        raise mistake(
            "other rules than those that join two ports each would send frames past the guests",
            "use rules: cross without push_vlan",
        )
    if rules == "normal" and tags:
        problem = "a switch that learns addresses puts no tags on"
        raise mistake(problem, "use rules: cross, or remove push_vlan")


def joins_ports(rules: Rules, tags: tuple[int, ...]) -> bool:
    """Whether each port has one rule, whose counter says by which port its frames left."""
    return rules == "cross" and not tags


def install(
    switch: OvsInstance, rules: Rules, tags: tuple[int, ...] = (), ports: int = 2
) -> Installed:
    """Install them, all at once. Raises MachineError where the switch has another number then."""
    lines = list(rule_lines(rules, tags, ports))
    begin = time.monotonic()
    switch.add_rules(lines)
    seconds = time.monotonic() - begin
    present = counts_of(switch).rules
    if present != len(lines):
        raise MachineError(
            f"of {len(lines)} OpenFlow rules the switch has {present}",
            where="lab",
            remedy="see ovs-vswitchd.log in the lab's directory",
        )
    return Installed(present, seconds)


def rule_lines(rules: Rules, tags: tuple[int, ...] = (), ports: int = 2) -> Iterator[str]:
    """As ovs-ofctl reads them; `tags` are put on at port 1, and taken off on the way back.

    Of a chain with more `ports` than two, "cross" joins each two.
    """
    if rules == "normal":
        yield _NORMAL
        return
    if joins_ports(rules, tags):
        for one, other in joined([str(number) for number in range(1, ports + 1)]):
            yield f"in_port={one},actions=output:{other}"
            yield f"in_port={other},actions=output:{one}"
        return
    if len(tags) > 1:
        # A rule may take off only a tag that it has matched: the inner one is another's.
        yield f"table=1,in_port=2,{_TAGGED},actions=pop_vlan,output:1"
    ways = (f"actions={','.join((*_pushes(tags), 'output:2'))}", _way_back(tags))
    if rules == "cross":
        yield from (f"in_port={port},{way}" for port, way in enumerate(ways, start=1))
        return
    for number in range(rules):
        host, port = divmod(number, 2)
        yield f"in_port={port + 1},ip,nw_dst={_FIRST_DESTINATIONS[port] + host},{ways[port]}"


def rules_of(switch: OvsInstance, bridge: str = BRIDGE) -> tuple[str, ...]:
    """A bridge's rules as the switch has them, without their counters."""
    lines = switch.openflow("dump-flows", bridge=bridge).splitlines()
    return tuple(" ".join(_COUNTED.sub("", line).split()) for line in lines if "actions=" in line)


def counts_of(switch: OvsInstance) -> RuleCounts:
    """The number of its rules, and of the packets that hit one."""
    return read_counts(switch.openflow("dump-aggregate"))


def read_counts(text: str) -> RuleCounts:
    """What `ovs-ofctl dump-aggregate` prints. Raises MachineError for anything else."""
    found = _AGGREGATE.search(text)
    if found is None:
        raise MachineError(
            f"these are no counts of rules: {text.strip()[:200]!r}",
            where="ovs-ofctl dump-aggregate",
            remedy="check the version of Open vSwitch",
        )
    return RuleCounts(rules=int(found[2]), packets=int(found[1]))


def rule_facts(switch: OvsInstance, installed: Installed | None) -> dict[str, object]:
    """What the record says of the rules: all of a few, the number of many, how long they took."""
    counts = counts_of(switch)
    few = counts.rules <= _MAX_SHOWN
    return {
        **({"rules": list(rules_of(switch))} if few else {}),
        "rule_count": counts.rules,
        "rules_installed_in_s": None if installed is None else round(installed.seconds, 3),
    }


def _way_back(tags: tuple[int, ...]) -> str:
    if not tags:
        return "actions=output:1"
    return f"{_TAGGED},actions=pop_vlan,{'output:1' if len(tags) == 1 else 'resubmit(,1)'}"


def _pushes(tags: tuple[int, ...]) -> Iterator[str]:
    for place, tag in enumerate(reversed(tags)):
        ethertype = _ETHERTYPES["inner" if place == 0 else "outer"]
        yield f"push_vlan:{ethertype}"
        yield f"set_field:{_VLAN_PRESENT | tag}->vlan_vid"
