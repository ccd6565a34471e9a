"""TRex's commands on live traffic that sends nothing: owners, streams, starts, counters."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.histogram import Histogram
from plimsoll.remote.trex.commands.registry import call
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused, UnknownMethod
from plimsoll.remote.trex.session.trex_session import ServerIdentity, TrexSession
from tests.unit.remote.trex.fake_traffic import NOTHING, FakeTraffic
from tests.unit.remote.trex.stl_json import stream_json
from tests.worded.says import Says

ABS = {"op": "abs", "type": "raw", "value": 1.0}
Ask = Callable[..., Any]


class Bench:
    """A session on traffic that sends nothing."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.roused = 0
        self.traffic = FakeTraffic()
        self.session = TrexSession(
            self.traffic,
            ServerIdentity("0.1", "host", "now"),
            self._rouse,
            tell=self.notes.append,
        )
        self.handlers: dict[int, str] = {}

    def _rouse(self) -> None:
        self.roused += 1

    def ask(self, method: str, **params: Any) -> Any:
        params.setdefault("api_h", self.session.api_handler)
        if (port := params.get("port_id")) in self.handlers:
            params.setdefault("handler", self.handlers[port])
        return call(self.session, method, params)

    def own(self, *ports: int) -> None:
        for port in ports:
            self.handlers[port] = self.ask(
                "acquire", port_id=port, user="me", session_id=1, force=False
            )

    def add(self, port: int, number: int, **changed: Any) -> None:
        self.ask("add_stream", port_id=port, stream_id=number, stream=stream_json(**changed))

    def start(self, port: int, duration: float = -1.0, **multiplier: Any) -> Any:
        return self.ask(
            "start_traffic", port_id=port, mul=ABS | multiplier, duration=duration, force=False
        )

    def status(self, port: int) -> str:
        found = self.ask("get_port_status", port_id=port)["state"]
        assert isinstance(found, str)
        return found

    def events(self) -> list[int]:
        return [each["type"] for each in self.told()]

    def told(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("get_async_events", session_id=1)["data"]
        return found


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.own(0, 1)
    made.events()
    return made


def rates(bench: Bench) -> list[float | None]:
    return [plan.rate_pps for plan in bench.traffic.known.values()]


def test_an_api_of_another_kind_or_version_is_refused() -> None:
    session = Bench().session
    assert set(call(session, "api_sync_v2", {"name": "STL", "major": 5, "minor": 1})) == {"api_h"}
    for name, major in (("ASTF", 5), ("STL", 4)):
        with pytest.raises(MethodRefused, match=r"stateless|mismatch"):
            call(session, "api_sync_v2", {"name": name, "major": major, "minor": 0})


def test_without_the_key_nothing_is_answered(bench: Bench) -> None:
    for key in ("", "0", None, 5):
        with pytest.raises(BadParameters, match="API"):
            call(bench.session, "get_system_info", {"api_h": key})
    # TRex's console asks for it before it has a key.
    assert call(bench.session, "get_version", {})["mode"] == "STL"


def test_what_is_listed_is_served(bench: Bench, says: Says) -> None:
    listed = bench.ask("get_supported_cmds")
    assert {"add_stream", "get_pgid_stats", "update_traffic", "get_profile_list"} <= set(listed)
    assert "push_remote" not in listed
    with pytest.raises(MethodRefused) as caught:
        bench.ask("push_remote", port_id=0)
    assert caught.value == says("push_remote")
    with pytest.raises(UnknownMethod) as caught:
        bench.ask("rm")
    assert caught.value == says()
    with pytest.raises(MethodRefused) as caught:
        bench.ask("shutdown", force=True, user="me")
    assert caught.value == says("shutdown")


def test_a_port_has_one_owner(bench: Bench, says: Says) -> None:
    with pytest.raises(Exception) as caught:
        bench.ask("acquire", port_id=0, user="you", session_id=2, force=False)
    assert caught.value == says("me")
    with pytest.raises(Exception) as caught:
        bench.ask("acquire", port_id=0, user="me", session_id=2, force=False)
    assert caught.value == says("me")
    bench.ask("acquire", port_id=0, user="you", session_id=2, force=True)
    with pytest.raises(MethodRefused) as caught:
        bench.start(0)
    assert caught.value == says("you")
    assert bench.ask("get_owner", port_id=0) == {"owner": "you"}
    assert bench.events() == [5]
    with pytest.raises(BadParameters) as caught:
        bench.ask("get_owner", port_id=2)
    assert caught.value == says("2")


def test_streams_are_kept_as_they_were_given(bench: Bench) -> None:
    bench.add(0, 3, isg=2000.0)
    assert bench.ask("get_stream", port_id=0, stream_id=3)["stream"] == stream_json(isg=2000.0)
    assert bench.ask("get_all_streams", port_id=0, profile_id="*") == {
        "profiles": {"_": {"3": stream_json(isg=2000.0)}}
    }
    assert bench.ask("get_stream_list", port_id=0) == [3]
    with pytest.raises(MethodRefused, match="already exists"):
        bench.add(0, 3)
    bench.ask("remove_stream", port_id=0, stream_id=3)
    assert bench.status(0) == "IDLE"


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        ({"packet": {"binary": "AAAA"}}, ("packet.binary", "3")),
        ({"packet": {"binary": "!!!!"}}, ("base64",)),
        ({"packet": {"binary": "A" * 40_000}}, ()),
        ({"mode": {"type": "random"}}, ("mode",)),
        ({"mode": {"type": "continuous", "rate": {"type": "pps", "value": 0}}}, ("0",)),
        ({"vm": {"instructions": [{"type": "jump"}]}}, ("vm.instructions.0",)),
        (
            {"vm": {"instructions": [{"type": "fix_checksum_ipv4", "pkt_offset": 14}] * 300}},
            ("vm.instructions",),
        ),
        (
            {"vm": {"instructions": [{"type": "trim_pkt_size", "name": "v"}]}},
            ("v",),
        ),
        (
            {"flow_stats": {"enabled": True, "rule_type": "tpg", "stream_id": 1}},
            (),
        ),
    ],
)
def test_streams_that_are_none_are_refused_with_the_place(
    bench: Bench, changed: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(BadParameters) as caught:
        bench.add(0, 1, **changed)
    assert caught.value == says(*facts)
    assert bench.ask("get_stream_list", port_id=0) == []


def test_a_start_multiplies_all_but_latency(bench: Bench) -> None:
    bench.add(0, 1)
    bench.add(0, 2, flow_stats={"enabled": True, "rule_type": "latency", "stream_id": 9})
    assert bench.start(0, value=2.5)["multiplier"] == 2.5
    assert rates(bench) == [2500.0, 1000.0]
    assert [p.role for p in bench.traffic.known.values()] == ["load", "latency"]
    assert [(p.tx_port, p.rx_port) for p in bench.traffic.known.values()] == [(0, 1)] * 2
    assert bench.status(0) == "TX"
    assert bench.events() == [10]
    with pytest.raises(Exception, match="already active"):
        bench.start(0)


def test_another_ports_streams_are_known_before_they_start(bench: Bench) -> None:
    bench.add(0, 1)
    bench.add(1, 1)
    bench.start(0)
    assert len(bench.traffic.known) == 2
    bench.start(1, value=3.0)
    assert bench.traffic.calls == [("start", (0,)), ("start", (1,))]
    assert rates(bench) == [1000.0, 3000.0]


def test_traffic_ends_when_its_time_is_over(bench: Bench) -> None:
    bench.add(0, 1)
    before = time.monotonic()
    started = bench.start(0, duration=2.0)
    assert before <= started["begin_ts"] <= time.monotonic()
    assert started["end_ts"] - started["begin_ts"] == pytest.approx(2, abs=1e-3)
    bench.session.turn()
    assert bench.status(0) == "TX"
    bench.traffic.end(0)
    bench.session.turn()
    assert bench.status(0) == "STREAMS"
    # The engine has ended it: nothing is stopped once more.
    assert bench.traffic.calls == [("start", (0,))]
    begun, ended = bench.told()
    assert (begun["type"], ended["type"]) == (10, 14)
    assert ended["data"]["end_ts"] == pytest.approx(started["end_ts"], abs=1e-3)


def burst(bench: Bench) -> None:
    """All its frames are counted, and the engine is about to say when the last one left."""
    mode = {"type": "single_burst", "total_pkts": 300, "rate": {"type": "pps", "value": 1000.0}}
    bench.add(0, 1, mode=mode)
    bench.start(0)
    bench.traffic.started.clear()
    bench.session.turn()


def test_a_burst_has_ended_when_its_end_is_known(bench: Bench) -> None:
    burst(bench)
    assert bench.status(0) == "TX"
    bench.traffic.end(0)
    bench.session.turn()
    assert bench.status(0) == "STREAMS"
    times = bench.told()[-1]["data"]
    assert times["end_ts"] - times["begin_ts"] == pytest.approx(1, abs=1e-3)


def test_a_burst_whose_end_is_never_said_ends_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link went down, for example."""
    burst(bench)
    monkeypatch.setattr("plimsoll.remote.trex.session.sender._END_KNOWN_WITHIN_S", 0.0)
    bench.session.turn()
    assert bench.status(0) == "STREAMS"
    assert bench.told()[-1]["data"]["end_ts"] is None


def test_clients_need_not_wait_for_late_counters(bench: Bench) -> None:
    """Of a virtual port TRex's client waits 100 ms after the end, and counts them as sending."""
    assert [port["is_virtual"] for port in bench.ask("get_system_info")["ports"]] == [False, False]


@pytest.mark.parametrize("duration", [0.0, -1.0])
def test_traffic_without_a_duration_has_no_end(bench: Bench, duration: float) -> None:
    bench.add(0, 1)
    assert bench.start(0, duration=duration)["end_ts"] is None


def test_traffic_ends_when_all_is_sent(bench: Bench) -> None:
    rate = {"type": "pps", "value": 10.0}
    bench.add(0, 1, mode={"type": "single_burst", "total_pkts": 5, "rate": rate})
    bench.start(0)
    assert next(iter(bench.traffic.known.values())).frame_count == 5
    bench.traffic.end(0)
    bench.session.turn()
    assert bench.status(0) == "STREAMS"
    assert bench.told()[-1]["data"]["end_ts"] is not None


def test_pause_and_resume_keep_the_rate(bench: Bench) -> None:
    bench.add(0, 1)
    with pytest.raises(MethodRefused, match="current state: 'STREAMS'"):
        bench.ask("pause_traffic", port_id=0)
    bench.start(0)
    bench.ask("pause_traffic", port_id=0)
    assert (rates(bench), bench.status(0)) == ([0.0], "PAUSE")
    bench.ask("resume_traffic", port_id=0)
    assert (rates(bench), bench.status(0)) == ([1000.0], "TX")
    bench.ask("pause_streams", port_id=0, stream_ids=[1])
    assert rates(bench) == [0.0]
    bench.ask("resume_streams", port_id=0, stream_ids=[1])
    assert rates(bench) == [1000.0]
    bench.ask("stop_traffic", port_id=0)
    assert bench.events() == [10, 12, 13, 11]


def test_updates_multiply_from_what_is_sent(bench: Bench) -> None:
    bench.add(0, 1)
    bench.start(0, value=2.0)
    update = {"op": "add", "type": "percentage", "value": 50.0}
    found = bench.ask("update_traffic", port_id=0, mul=update, force=False)
    assert found == {"multiplier": 3.0}
    assert rates(bench) == [3000.0]
    only = {"op": "abs", "type": "pps", "value": 70.0}
    bench.ask("update_streams", port_id=0, mul=only, force=False, stream_ids=[1])
    assert rates(bench) == [pytest.approx(70.0)]


def test_rates_of_bursts_cannot_change_while_they_are_sent(bench: Bench, says: Says) -> None:
    bursts = {
        "type": "multi_burst", "pkts_per_burst": 4, "count": 9, "ibg": 1e6,
        "rate": {"type": "pps", "value": 1000.0},
    }  # fmt: skip
    for port in (0, 1):
        bench.add(port, 1, mode=bursts)
    for port in (0, 1):
        bench.start(port)
    # Both were known before the first of them began, so none has to wait for the other.
    assert bench.traffic.calls == [("start", (0,)), ("start", (1,))]
    with pytest.raises(Exception) as caught:
        bench.ask("update_traffic", port_id=0, mul=ABS | {"value": 2.0}, force=False)
    assert caught.value == says("1")
    bench.ask("stop_traffic", port_id=0)
    bench.start(0)
    assert bench.traffic.calls[-1] == ("start", (0,))
    assert len(bench.traffic.known) == 2


def test_what_cannot_begin_is_told(bench: Bench, says: Says) -> None:
    bench.add(0, 1)
    bench.traffic.failure = MachineError("the lab has died")
    bench.start(0)
    bench.session.turn()
    bench.session.turn()
    assert bench.status(0) == "STREAMS"
    assert bench.events() == [10, 17]
    assert bench.notes == [says()]


def test_a_stream_that_cannot_be_is_named_as_the_client_knows_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_streams: object) -> None:
        raise InputError("2004 bytes with FCS", where="streams[1].frames[0]")

    bench.add(0, 7)
    bench.add(0, 9)
    monkeypatch.setattr(bench.traffic, "add", refuse)
    with pytest.raises(InputError) as caught:
        bench.start(0)
    assert caught.value.where == "port 0 stream 9.frames[0]"


def test_addresses_are_the_ports_unless_the_stream_insists(bench: Bench, says: Says) -> None:
    bench.add(0, 1, flags=0)
    bench.add(0, 2, flags=3)
    bench.start(0)
    frames = [plan.frames[0] for plan in bench.traffic.known.values()]
    assert frames[0][:12].hex() == "020000000002020000000001"
    assert frames[1][:12].hex() == "000000020000000000010000"
    bench.ask("stop_traffic", port_id=0)
    bench.ask("set_l2", port_id=0, dst_mac="02:aa:00:00:00:05")
    bench.start(0)
    (first,) = (p.frames[0] for p in bench.traffic.known.values() if p.name.endswith("stream 1"))
    assert first[:6].hex() == "02aa00000005"
    with pytest.raises(MethodRefused) as caught:
        bench.ask("set_l3", port_id=0, src_addr="1.1.1.1", dst_addr="1.1.1.2")
    assert caught.value == says("set_l3", "set_l2")


def test_profiles_start_on_their_own(bench: Bench) -> None:
    for name, number in (("a", 1), ("b", 2)):
        bench.ask("add_stream", port_id=0, profile_id=name, stream_id=number, stream=stream_json())
    bench.ask("start_traffic", port_id=0, profile_id="b", mul=ABS, duration=-1.0, force=False)
    status = bench.ask("get_port_status", port_id=0, profile_id="*")
    assert status["state_profile"] == {"a": "STREAMS", "b": "TX"}
    assert bench.ask("get_profile_list", port_id=0) == ["a", "b"]
    bench.ask("stop_traffic", port_id=0, profile_id="*")
    bench.ask("remove_all_streams", port_id=0, profile_id="*")
    assert bench.ask("get_profile_list", port_id=0) == []
    assert bench.traffic.known == {}


def test_validate_says_what_a_profile_sends(bench: Bench) -> None:
    bench.add(0, 1)
    rate = bench.ask("validate", port_id=0)["rate"]
    assert (rate["max_pps"], rate["max_bps_l2"], rate["max_bps_l1"]) == (1000, 512e3, 672e3)


def test_counters_are_in_trexs_names(bench: Bench) -> None:
    bench.add(0, 1, flow_stats={"enabled": True, "rule_type": "latency", "stream_id": 9})
    bench.add(0, 2, flow_stats={"enabled": True, "rule_type": "stats", "stream_id": 7})
    assert bench.ask("get_active_pgids") == {"ids": {"flow_stats": [7], "latency": [9]}}
    bench.start(0)
    # Two frames of 5 us, one of 25 us, one of 450 us; bucket n below 256 is n ns.
    latency = Histogram(4, 485_000, 5000, 450_000, ((795, 2), (1091, 1), (1627, 1)))
    bench.traffic.counted = {
        0: replace(
            NOTHING, sent=10, received=6, missing=5, duplicate=1, out_of_order=2, latency=latency
        ),
        1: replace(NOTHING, sent=100, received=90, refused=3),
    }
    port = bench.ask("get_port_stats", port_id=0)
    assert (port["opackets"], port["obytes"], port["oerrors"]) == (110, 7040, 3)
    assert bench.ask("get_port_stats", port_id=1)["ipackets"] == 96
    assert bench.ask("get_global_stats")["m_total_queue_full"] == 3
    found = bench.ask("get_pgid_stats", pgids=[7, 9, 11])
    assert set(found["flow_stats"]) == {"7", "9", "g"}
    assert found["flow_stats"]["7"]["tp"] == {"0": 100, "1": 0}
    assert found["flow_stats"]["7"]["rb"] == {"0": 0, "1": 90 * 64}
    assert found["latency"]["9"]["er"] == {"drp": 5, "ooo": 2, "dup": 1, "sth": 0, "stl": 3}
    figures = found["latency"]["9"]["lat"]
    assert (figures["total_min"], figures["total_max"]) == (5.0, 450.0)
    assert figures["average"] == 121.25
    assert figures["histogram"] == {"0": 2, "20": 1, "400": 1}
    assert len(bench.ask("get_port_xstats_values", port_id=0)["xstats_values"]) == len(
        bench.ask("get_port_xstats_names", port_id=0)["xstats_names"]
    )


def test_ports_counters_stay_when_streams_go(bench: Bench) -> None:
    group = {"enabled": True, "rule_type": "stats", "stream_id": 7}
    bench.add(0, 1, isg=5000.0, flow_stats=group)
    bench.start(0)
    bench.ask("get_global_stats")
    bench.traffic.counted = {0: replace(NOTHING, sent=10, received=9)}
    assert bench.ask("get_pgid_stats", pgids=[7])["ver_id"] == {"7": 1}
    bench.ask("stop_traffic", port_id=0)
    # Another delay makes another stream of it to the engine, which the client is told of.
    bench.ask("remove_stream", port_id=0, stream_id=1)
    bench.add(0, 1, isg=9000.0, flow_stats=group)
    bench.start(0)
    bench.traffic.counted = {
        0: replace(NOTHING, sent=1, received=1),
        1: replace(NOTHING, sent=1, received=1),
    }
    assert bench.ask("get_port_stats", port_id=0)["opackets"] == 11
    bench.ask("stop_traffic", port_id=0)
    bench.ask("remove_all_streams", port_id=0)
    assert bench.ask("get_port_stats", port_id=0)["opackets"] == 11
    assert bench.ask("get_port_stats", port_id=1)["ipackets"] == 10
    assert bench.ask("get_global_stats")["m_total_tx_pkts"] == 11


def test_events_of_a_client_that_never_asks_are_bounded(bench: Bench) -> None:
    for _ in range(1500):
        bench.ask("release", port_id=0)
        bench.own(0)
    assert len(bench.events()) == 1000
    for session in range(100):
        bench.ask("get_async_events", session_id=session + 1000)
    assert bench.roused >= 3000


@pytest.mark.parametrize("attribute", ["link_status", "flow_ctrl_mode", "led_status", "vxlan_fs"])
def test_attributes_that_ports_do_not_have(bench: Bench, attribute: str) -> None:
    with pytest.raises(MethodRefused, match=attribute):
        bench.ask("set_port_attr", port_id=0, attr={attribute: {}})
    bench.ask("set_port_attr", port_id=0, attr={"promiscuous": {"enabled": False}})
    attributes = bench.ask("get_port_status", port_id=0)["attr"]
    assert attributes["promiscuous"] == {"enabled": False}
    assert attributes["speed"] == 10.0
