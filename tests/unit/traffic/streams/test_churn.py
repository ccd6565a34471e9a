"""Flows that make room for new ones: what the engine gets, worked out by hand."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.traffic.plan import FieldWriter, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.flows import flows_within
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

STREAM: dict[str, Any] = {"name": "load", "role": "load", "frame_size": 100, "flows": 4096}


def plans(load_pps: float = 1e6, **given: Any) -> tuple[StreamPlan, ...]:
    profile = Profile.model_validate({"streams": [STREAM | given]})
    return compile_profile(profile, load_pps, ((0, 1), (1, 0)))


def churns(plan: StreamPlan) -> list[tuple[float, int]]:
    return [(field.churn, field.cycle) for field in plan.fields]


def test_a_thousand_new_flows_a_second_are_one_in_a_thousand_frames_at_1_mpps() -> None:
    forward, reverse = plans(churn=1000)
    # 198.19.0.1 to 198.19.255.254, and on the way back 198.18.0.1 to 198.18.255.254.
    assert churns(forward) == churns(reverse) == [(0.001, 65534)]
    assert [field.count for field in forward.fields] == [4096]


def test_the_share_is_that_of_the_streams_own_rate() -> None:
    profile = {"streams": [STREAM | {"churn": 1000}, STREAM | {"name": "other", "rate": "3.0x"}]}
    mine, _, other, _ = compile_profile(Profile.model_validate(profile), 1e6, ((0, 1), (1, 0)))
    assert churns(mine) == [(0.004, 65534)]
    assert churns(other) == [(0.0, 0)]


def test_below_the_churn_each_frame_is_a_new_flow() -> None:
    assert churns(plans(load_pps=500, churn=1000)[0]) == [(1.0, 65534)]


def test_fields_move_on_together_as_far_as_the_shortest() -> None:
    (forward, reverse) = plans(churn=10, vary=["dst_ip", "src_port"], prefix=7)
    # Source ports go from 4096 to 65535, and on the way back from 4097.
    assert churns(forward) == [(1e-5, 61440)] * 2
    assert churns(reverse) == [(1e-5, 61439)] * 2


def test_a_wide_network_has_all_the_flows_that_there_may_be() -> None:
    assert churns(plans(churn=1, prefix=7)[0]) == [(1e-6, 2**24)]


def test_what_counts_by_itself_stays_as_it_is() -> None:
    vary = ["dst_ip", {"field": "IP.ttl", "count": 3}, {"field": "IP.tos", "values": [0, 8]}]
    vary.append({"field": "IP.id"})
    assert churns(plans(churn=10, vary=vary)[0]) == [(1e-5, 65534), (0, 0), (0, 0), (1e-5, 65534)]


def test_a_stream_without_churn_is_sent_as_before() -> None:
    assert plans()[0].fields == (FieldWriter(30, 4, 4096, fixes=(24, 40)),)


def test_who_sends_it_says_when_flows_come_again(says: Says) -> None:
    profile = Profile.model_validate({"streams": [STREAM | {"churn": 1000}]})
    assert profile.notes() == [says("4,096", "1,000", "65,534", "65.5")]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"flows": 1}, ("flows",)),
        ({"pacing": "back-to-back"}, ()),
        ({"stream_types": ["measurement", "teaching_warmup"]}, ()),
        ({"vary": [{"field": "IP.ttl", "count": 3}]}, ("dst_ip",)),
        ({"prefix": 20, "flows": 4094}, ("4094", "flows")),
        ({"churn": 0}, ("0",)),
        ({"churn": float("nan")}, ("1",)),
    ],
)
def test_what_cannot_have_churn_is_refused(given: Any, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        Profile.model_validate({"streams": [STREAM | {"churn": 10.0} | given]})
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    ("given", "flows"),
    [
        ({}, 4096),
        # 120 s of 100 new flows a second; of 1000 there are as many as addresses, see above.
        ({"churn": 100}, 4096 + 12_000),
        ({"churn": 1000}, 65_534),
        ({"churn": 0.001}, 4097),
    ],
)
def test_flows_of_the_last_two_minutes_are_those_in_use_and_those_that_ended(
    given: dict[str, Any], flows: int
) -> None:
    (stream,) = Profile.model_validate({"streams": [STREAM | given]}).streams
    assert flows_within(stream, 120.0, reverse=False) == flows
