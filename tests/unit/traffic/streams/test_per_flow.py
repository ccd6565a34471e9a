"""Streams that are counted by flow: which can be, what the engine is told, and flows' names."""

from typing import Any

import pytest
from pydantic import ValidationError
from scapy.all import IP, UDP, Ether, IPv6

from plimsoll.generator.engine.messages import trial_request
from plimsoll.generator.interface import TrialPlan
from plimsoll.traffic.plan import StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.flows import flow_name
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says


def plans(**stream: Any) -> tuple[StreamPlan, ...]:
    load = {"name": "load", "role": "load", "flows": 300, "per_flow": True, **stream}
    profile = Profile.model_validate({"streams": [load]})
    return compile_profile(profile, 1000.0, ((0, 1), (1, 0)))


@pytest.mark.parametrize(
    ("stream", "facts"),
    [
        ({"flows": 1}, ("1",)),
        ({"flows": 65537, "prefix": 8}, ("65,537", "flows")),
        ({"churn": 10}, ("1",)),
        (
            {"vary": [{"field": "IP.dst", "count": 300}]},
            ("dst_ip", "1"),
        ),
    ],
)
def test_what_cannot_be_counted_by_flow_is_refused(
    stream: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        plans(**stream)
    assert caught.value == says(*facts)


def test_as_many_flows_as_there_may_be() -> None:
    assert {each.counted_flows for each in plans(flows=65536, prefix=8)} == {65536}


def test_the_engine_is_asked_for_what_the_profile_asks_for() -> None:
    def requested(**stream: Any) -> list[object]:
        plan = TrialPlan(mark=1, streams=plans(**stream), duration_s=1.0, drain_s=0.1)
        return [each.get("flows") for each in trial_request(plan)["streams"]]

    assert requested() == [{"count": 300, "first": 0}] * 2
    assert requested(per_flow=False) == [None, None]


def test_a_flow_is_named_by_what_its_frames_have() -> None:
    forward, reverse = plans(vary=["dst_ip", "src_port"], src_port=5000)
    assert flow_name(forward, 0) == "dst_ip 198.19.0.1, src_port 5000"
    assert flow_name(forward, 299) == "dst_ip 198.19.1.44, src_port 5299"
    assert flow_name(reverse, 299) == "dst_ip 198.18.1.44, src_port 4396"


def test_names_are_those_that_scapy_reads() -> None:
    (plan, _) = plans(src_ip="2001:2:0:1::1", frame_size=128, vary=["dst_ip", "dst_mac"])
    sent = Ether(plan.frames[0])
    assert flow_name(plan, 0) == f"dst_ip {sent[IPv6].dst}, dst_mac {sent.dst}"
    assert flow_name(plan, 255) == "dst_ip 2001:2:0:2::100, dst_mac 02:00:01:00:01:00"


def test_a_field_by_its_path_counts_from_its_own_first() -> None:
    (plan, _) = plans(vary=[{"field": "UDP.dport", "step": 2, "first": 298}])
    sent = Ether(plan.frames[0])
    assert sent[IP].dst == "198.19.0.1"
    assert sent[UDP].dport == 4097
    # Numbers 298, 299 and 0 of 300.
    assert flow_name(plan, 0) == f"UDP.dport {4097 + 2 * 298}"
    assert flow_name(plan, 2) == "UDP.dport 4097"


def test_what_varies_within_a_flow_is_not_in_its_name() -> None:
    (plan, _) = plans(vary=["dst_ip", {"field": "UDP.sport", "values": "random", "count": 9}])
    assert flow_name(plan, 4) == "dst_ip 198.19.0.5"
