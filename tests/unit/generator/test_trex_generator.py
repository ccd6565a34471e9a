"""TRex as a generator: our streams as its, its counters as ours, and its configuration.

A stand-in takes the place of TRex's client library, with the same calls; what the real
one says is tried where it is installed (tests/integration/test_trex_generator.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.interface import GeneratorDied, GeneratorRefused, Interval, TrialPlan
from plimsoll.generator.trex.client import TrexClient
from plimsoll.generator.trex.generator import StlTrex, latency_histogram
from plimsoll.generator.trex.server import LIBRARY, trex_configuration
from plimsoll.generator.trex.settings import TrexSettings
from plimsoll.generator.trex.stl_streams import stl_streams
from plimsoll.traffic.plan import FieldWriter, StreamPlan
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile
from tests.worded.says import Says

PATHS = ((0, 1), (1, 0))


def plans(load_pps: float = 1000.0, **changes: object) -> tuple[StreamPlan, ...]:
    stream = {"name": "s", "role": "load", "flows": 16, **changes}
    streams = [stream] if stream["role"] == "load" else [{"name": "l", "role": "load"}, stream]
    compiled = compile_profile(Profile.model_validate({"streams": streams}), load_pps, PATHS)
    return tuple(each for each in compiled if each.name.startswith("s/"))


def refused(plan: StreamPlan) -> str:
    with pytest.raises(InputError) as caught:
        stl_streams(plan)
    return str(caught.value)


def test_flows_become_a_variable_that_is_written_and_a_checksum_that_is_fixed() -> None:
    (stream,) = stl_streams(plans()[0])
    assert {**stream, "frame": ""} == {
        "port": 0,
        "group": 1,
        "latency": False,
        "frame": "",
        "unit": "pps",
        "rate": 1000.0,
        "program": [
            {
                "kind": "STLVmFlowVar",
                "name": "v0",
                "size": 4,
                "min_value": 0xC6130001,
                "max_value": 0xC6130010,
                "step": 1,
                "op": "inc",
                "init_value": 0xC6130001,
            },
            {"kind": "STLVmWrFlowVar", "fv_name": "v0", "pkt_offset": 30},
            {"kind": "STLVmFixIpv4", "offset": 14},
        ],
    }
    packet = Ether(bytes.fromhex(stream["frame"]))
    assert (packet[IP].src, packet[IP].dst, packet[UDP].chksum) == ("198.18.0.1", "198.19.0.1", 0)
    assert len(packet) == 60


def test_a_mix_of_sizes_is_a_stream_for_each_in_one_group() -> None:
    streams = stl_streams(plans(imix="simple")[0])
    rates = {len(each["frame"]) // 2 + 4: each["rate"] for each in streams}
    assert rates == pytest.approx({64: 7000 / 12, 594: 4000 / 12, 1518: 1000 / 12})
    assert {each["group"] for each in streams} == {1}


def test_probes_are_timed_and_unpaced_load_is_all_of_the_line() -> None:
    (probe,) = stl_streams(plans(role="latency", rate="50pps")[0])
    assert (probe["latency"], probe["unit"], probe["rate"]) == (True, "pps", 50.0)
    (unpaced,) = stl_streams(plans(pacing="back-to-back")[0])
    assert (unpaced["unit"], unpaced["rate"]) == ("percentage", 100.0)


def test_tcp_checksums_are_fixed_where_they_are_varied() -> None:
    (stream,) = stl_streams(plans(protocol="TCP", frame_size=128, vlan=5)[0])
    assert stream["program"][-1] == {
        "kind": "STLVmFixChecksumHw",
        "l3_offset": 18,
        "l4_offset": 38,
        "l4_type": 13,
    }


def test_of_a_mac_the_low_four_bytes_are_varied() -> None:
    (stream,) = stl_streams(plans(vary=["src_mac"])[0])
    assert [each.get("pkt_offset") for each in stream["program"]] == [None, 8]


@pytest.mark.parametrize(
    ("field", "facts"),
    [
        (FieldWriter(30, 4, 16, every=4), ()),
        (FieldWriter(30, 4, 16, mask=0xFF), ()),
        (FieldWriter(30, 4, 16, churn=1.0, cycle=32), ()),
        (FieldWriter(30, 4, 2**31), ("4",)),
        (FieldWriter(30, 4, 16, step=-1), ("4",)),
        (FieldWriter(30, 4, 16, step=2, kind="random", seed=1), ("random", "2")),
    ],
)
def test_what_the_field_engine_cannot_vary_is_refused(
    field: FieldWriter, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(replace(plans()[0], fields=(field,))) == says(*facts)


def test_what_is_not_ip_is_refused(says: Says) -> None:
    assert refused(plans(protocol="ARP", flows=1)[0]) == says("profile.streams", "s/0-1")


def test_random_and_listed_values() -> None:
    drawn = replace(plans()[0], fields=(FieldWriter(36, 2, 16, kind="random", seed=3),))
    assert stl_streams(drawn)[0]["program"][0]["op"] == "random"
    listed = FieldWriter(36, 2, 3, kind="list", values=(7, 9, 8), first=1)
    variable = stl_streams(replace(plans()[0], fields=(listed,)))[0]["program"][0]
    assert variable["value_list"] == [9, 8, 7]


def test_latencies_are_never_told_too_low() -> None:
    found = latency_histogram(
        {
            "average": 41.5,
            "total_min": 3,
            "total_max": 137,
            "histogram": {"0": 90, "20": 8, "100": 2},
        }
    )
    assert (found.count, found.min_ns, found.max_ns) == (100, 3000, 137_000)
    assert found.sum_ns == 4_150_000
    # The middle one is somewhere below 10 us, the 95th in 20 to 30 us.
    assert 9_900 < (found.quantile_ns(0.5) or 0) <= 10_080
    assert 29_000 < (found.quantile_ns(0.95) or 0) <= 30_240
    assert found.quantile_ns(0.999) == 137_000


def test_a_maximum_without_the_first_samples_is_not_believed() -> None:
    found = latency_histogram({"total_max": 12, "histogram": {"0": 5, "300": 1}})
    assert found.max_ns == 399_999
    assert latency_histogram({}).count == 0
    assert latency_histogram({"histogram": {}}).count == 0


def test_an_hdr_histogram_tells_whole_microseconds() -> None:
    hdr = HdrHistogram(1, 10_000_000, 3)
    for value_us, count in ((5, 60), (6, 39), (210, 1)):
        hdr.record_value(value_us, count)
    found = latency_histogram(
        {"hdrh": hdr.encode().decode(), "total_max": 210, "histogram": {"0": 99, "200": 1}}
    )
    assert found.count == 100
    assert 5_900 < (found.quantile_ns(0.5) or 0) < 6_050
    assert found.max_ns == 210_000


def test_its_configuration_has_pairs_of_ports_and_threads() -> None:
    devargs = ("net_memif0,socket=/x", "0000:03:00.0", "net_memif2")
    one = trex_configuration(devargs, (4,), (4501, 4500))
    assert one["interfaces"] == [
        "--vdev=net_memif0,socket=/x",
        devargs[1],
        "--vdev=net_memif2",
        "dummy",
    ]
    assert (one["low_end"], one["low_end_core"]) == (True, 4)
    many = trex_configuration(devargs, (4, 5, 6, 7), (4501, 4500))
    assert many["platform"] == {
        "master_thread_id": 4,
        "latency_thread_id": 5,
        "dual_if": [{"socket": 0, "threads": [6, 7]}],
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A TRex tree whose library counts what it is told: each port's frames come to the other."""
    library = tmp_path / LIBRARY / "trex" / "stl"
    library.mkdir(parents=True)
    (library.parent / "__init__.py").touch()
    (library / "__init__.py").touch()
    (library / "api.py").write_text(Path(__file__).with_name("stand_in_stl.py").read_text())
    return tmp_path


@pytest.fixture
def trex(tree: Path, tmp_path: Path) -> Iterator[StlTrex]:
    client = TrexClient(sys.executable, tree / LIBRARY, tmp_path / "client.log", {})
    connected = StlTrex.connect(client, "127.0.0.1", (1, 2), 2, take=True)
    yield connected
    connected.close()
    assert not client.identity.alive


def test_a_trial_counts_by_group_and_by_port(
    trex: StlTrex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However late its end is seen.
    monkeypatch.setattr("plimsoll.generator.trex.generator._LATE_END_S", 60.0)
    streams = (*plans(2000.0), replace(plans(role="latency", rate="100pps")[0], stream=7))
    plan = TrialPlan(mark=1, streams=streams, duration_s=0.3, drain_s=0.05, interval_s=0.1)
    seen: list[Interval] = []

    def watch(interval: Interval) -> bool:
        seen.append(interval)
        return False

    report = trex.trial(plan, watch)
    forward, backward, probe = report.streams
    assert (forward.sent, backward.sent, probe.sent) == (600, 600, 30)
    # The stand-in loses a tenth of what port 0 sends and sends one back on the wrong port.
    assert (forward.received, forward.misdirected, backward.received) == (540, 1, 600)
    assert forward.missing == 60
    assert (probe.latency.count, probe.out_of_order, probe.duplicate) == (27, 2, 3)
    assert (report.ended_by, report.sending_s) == ("duration", 0.3)
    assert sum(each.streams[0].sent for each in seen) == 600
    assert trex.facts.version == "v9.99"
    assert [port.mac for port in trex.ports] == ["02:00:00:00:00:00", "02:00:00:00:00:01"]
    told = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    assert told[0] == ["connect", "127.0.0.1", 1, 2]
    assert ["acquire", [0, 1], True] in told
    assert ["start", [0, 1], 0.3] in told


def test_a_trial_that_is_stopped_stops_trex(trex: StlTrex, tmp_path: Path) -> None:
    plan = TrialPlan(mark=1, streams=plans(), duration_s=60.0, drain_s=0.05, interval_s=0.02)
    report = trex.trial(plan, lambda _: True)
    assert report.ended_by == "stop"
    assert 0 < report.sending_s < 60
    told = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    assert ["stop", [0, 1], 50] in told


def test_a_trex_whose_clock_is_slow_is_stopped_and_its_time_is_ours(
    trex: StlTrex, tmp_path: Path
) -> None:
    plan = TrialPlan(mark=1, streams=plans(4000.0), duration_s=0.3, drain_s=0.05, interval_s=1.0)
    report = trex.trial(plan, lambda _: False)
    assert report.ended_by == "duration"
    assert report.sending_s > plan.duration_s
    # A quarter of what was due in the time that it sent, and not all of it at the planned rate.
    due = 4000.0 * report.sending_s
    assert all(0 < each.sent < 0.5 * due for each in report.streams)
    told = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    assert ["stop", [0, 1], 50] in told


def test_unpaced_it_is_stopped_at_its_time(trex: StlTrex, tmp_path: Path) -> None:
    unpaced = tuple(replace(each, rate_pps=None) for each in plans())
    plan = TrialPlan(mark=1, streams=unpaced, duration_s=0.3, drain_s=0.05, interval_s=1.0)
    report = trex.trial(plan, lambda _: False)
    assert report.ended_by == "duration"
    assert all(each.sent > 0 for each in report.streams)
    told = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
    assert ["stop", [0, 1], 50] in told


def test_a_trex_that_was_seen_to_end_late_may_have_sent_so_long(trex: StlTrex) -> None:
    plan = TrialPlan(mark=1, streams=plans(3000.0), duration_s=0.3, drain_s=0.05, interval_s=0.1)
    report = trex.trial(plan, lambda _: False)
    assert report.ended_by == "duration"
    assert [each.sent for each in report.streams] == [900, 900]
    assert report.sending_s > 0.6


def test_what_the_library_refuses_is_told_in_its_words(trex: StlTrex) -> None:
    plan = TrialPlan(mark=1, streams=plans(13.0), duration_s=0.1, drain_s=0.0)
    with pytest.raises(GeneratorRefused, match="STLError: 13 is unlucky"):
        trex.trial(plan, lambda _: False)


def a_dead_server() -> None:
    raise GeneratorDied("TRex (pid 7) exited with status 1", where="generator", remedy="start it")


def test_a_dead_server_is_told_while_its_answer_is_waited_for(tree: Path, tmp_path: Path) -> None:
    log = tmp_path / "client.log"
    client = TrexClient(sys.executable, tree / LIBRARY, log, {}, check_server=a_dead_server)
    with pytest.raises(GeneratorDied, match="pid 7"):
        StlTrex.connect(client, "silent", (1, 2), 2, take=False)
    client.close()


def test_a_dead_server_is_told_before_what_the_library_makes_of_it(
    tree: Path, tmp_path: Path
) -> None:
    log = tmp_path / "client.log"
    client = TrexClient(sys.executable, tree / LIBRARY, log, {}, check_server=a_dead_server)
    with pytest.raises(GeneratorDied, match="pid 7"):
        client.ask("connect", host="127.0.0.1", sync_port=1, async_port=2, ports=3, take=False)
    client.close()


def test_a_library_that_is_not_there_is_told(tmp_path: Path, says: Says) -> None:
    client = TrexClient(sys.executable, tmp_path, tmp_path / "client.log", {})
    with pytest.raises(GeneratorDied) as caught:
        client.ask("connect")
    assert caught.value == says("trex")
    client.close()


def experiment(settings: dict[str, object]) -> Experiment:
    profile = {"streams": [{"name": "load", "role": "load"}]}
    search = {"minimum": "1kpps", "maximum": "2kpps"}
    return Experiment.model_validate(
        {"name": "x", "profile": profile, "search": search, "generator": settings}
    )


def test_settings(tree: Path, says: Says) -> None:
    made = experiment({"kind": "trex", "tree": str(tree), "host": "10.0.0.9"}).generator
    assert isinstance(made, TrexSettings)
    assert made.polled_cpus == ()
    assert made.streams_sent(plans(), 2) == plans()
    started = TrexSettings(tree=tree, cpus=(1, 2, 3))
    assert started.polled_cpus[2] == ("generator.cpus[2]", 3)
    with pytest.raises(InputError, match="no _t-rex-64 in"):
        started.check_ports(2)
    with pytest.raises(InputError) as caught:
        TrexSettings(tree=tree / "nowhere").check_ports(2)
    assert caught.value == says()


def test_two_cpus_are_none_of_its_ways(tree: Path, says: Says) -> None:
    with pytest.raises((PlimsollError, ValueError)) as caught:
        TrexSettings(tree=tree, cpus=(1, 2))
    assert caught.value == says("2")


@pytest.mark.parametrize("said", ["<html>", "[1]", "[" * 100_000])
def test_a_client_that_speaks_otherwise_has_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    stand_in = tmp_path / "driver.py"
    stand_in.write_text(f"import sys\nsys.stdin.readline()\nprint({said!r}, flush=True)\n")
    monkeypatch.setattr("plimsoll.generator.trex.client.DRIVER", stand_in)
    client = TrexClient(sys.executable, tmp_path, tmp_path / "client.log", {})
    with pytest.raises(GeneratorDied, match="not understood"):
        client.ask("connect")
    client.close()
