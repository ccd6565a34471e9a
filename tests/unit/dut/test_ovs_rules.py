"""OpenFlow rules as they are written, and their counts as Open vSwitch prints them."""

import pytest
from pydantic import ValidationError

from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.dut.labs.ovs_dpdk import OvsDpdkSettings
from plimsoll.dut.ovs.rules import RuleCounts, read_counts, rule_lines
from plimsoll.errors import MachineError
from tests.worded.says import Says

# As Open vSwitch 3.1.0 prints it.
AGGREGATE = (
    "OFPST_AGGREGATE reply (OF1.3) (xid=0x2): packet_count=2000 byte_count=120000 flow_count=100000"
)


def test_a_number_of_rules_is_half_of_them_each_way_by_destination() -> None:
    assert list(rule_lines(4)) == [
        "in_port=1,ip,nw_dst=198.19.0.1,actions=output:2",
        "in_port=2,ip,nw_dst=198.18.0.1,actions=output:1",
        "in_port=1,ip,nw_dst=198.19.0.2,actions=output:2",
        "in_port=2,ip,nw_dst=198.18.0.2,actions=output:1",
    ]


def test_a_hundred_thousand_rules_differ_and_stay_in_their_networks() -> None:
    lines = list(rule_lines(100_000))
    assert len(set(lines)) == 100_000
    # The 50,000th host from .0.1 on: 195 * 256 + 80.
    assert lines[-2] == "in_port=1,ip,nw_dst=198.19.195.80,actions=output:2"


def test_tags_are_pushed_from_the_inner_to_the_outer_and_popped_on_the_way_back() -> None:
    # 0x1000 says that there is a tag: 4096 + 100, 4096 + 200.
    push = "push_vlan:0x8100,set_field:4196->vlan_vid"
    assert list(rule_lines("cross", (100,))) == [
        f"in_port=1,actions={push},output:2",
        "in_port=2,vlan_vid=0x1000/0x1000,actions=pop_vlan,output:1",
    ]
    # A rule may take off only a tag that it has matched.
    assert list(rule_lines("cross", (200, 100))) == [
        "table=1,in_port=2,vlan_vid=0x1000/0x1000,actions=pop_vlan,output:1",
        f"in_port=1,actions={push},push_vlan:0x88a8,set_field:4296->vlan_vid,output:2",
        "in_port=2,vlan_vid=0x1000/0x1000,actions=pop_vlan,resubmit(,1)",
    ]


def test_counts_are_read(says: Says) -> None:
    assert read_counts(AGGREGATE) == RuleCounts(rules=100_000, packets=2000)
    with pytest.raises(MachineError) as caught:
        read_counts("OFPT_ERROR")
    assert caught.value == says("OFPT_ERROR", "vSwitch")


@pytest.mark.parametrize("settings", [OvsSettings, OvsDpdkSettings])
@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"rules": 1}, ("2",)),
        ({"rules": 100_001}, ("100000",)),
        ({"rules": "some"}, ("cross", "normal")),
        ({"rules": "normal", "push_vlan": [5]}, ("push_vlan",)),
        ({"push_vlan": [1, 2, 3]}, ("2",)),
        ({"push_vlan": [4095]}, ("4094",)),
    ],
)
def test_unsound_rules_are_refused(
    settings: type[OvsSettings] | type[OvsDpdkSettings],
    given: dict[str, object],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    with pytest.raises(ValidationError) as caught:
        settings.model_validate(given)
    assert caught.value == says(*facts)
