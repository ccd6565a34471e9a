"""Counts by flow, through a real dpdk-testpmd over memif and a switch that drops some flows."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from plimsoll.dut.labs.ovs import OvsSettings
from plimsoll.errors import MachineError
from tests.flow_rows import flow_rows
from tests.integration.command import Workplace, finished_trials, hugepages, workplace
from tests.integration.dut.namespace_lab import CPU

# 2000 rules are for 1000 destinations each way; the switch has no rule for all others.
FORWARDED, SENT_TO = 1000, 1007


Flow = dict[str, Any]


def flows_of(run: Path) -> dict[str, list[Flow]]:
    by_stream: dict[str, list[Flow]] = {}
    for each in flow_rows(run, 1):
        by_stream.setdefault(each["stream"], []).append(each)
    return by_stream


def assert_flows_are_all_of_it(stream: dict[str, Any], flows: list[Flow]) -> None:
    assert stream["sent"] > len(flows)
    assert sum(each["sent"] for each in flows) == stream["sent"]
    assert sum(each["received"] for each in flows) == stream["received"]
    assert sum(each["duplicate"] for each in flows) == stream["duplicate"]
    missing = stream["sent"] - (stream["received"] - stream["duplicate"])
    assert sum(each["lost"] for each in flows) == missing
    shortest = min(each["latency_min_ns"] for each in flows if each["latency_min_ns"] is not None)
    assert shortest == stream["latency"]["min_ns"]


@pytest.mark.skipif(shutil.which("dpdk-testpmd") is None, reason="install dpdk-dev or dpdk")
@pytest.mark.parametrize(
    "count",
    [pytest.param(2048, marks=pytest.mark.slow), pytest.param(65536, marks=pytest.mark.full)],
)
def test_the_flows_of_a_stream_are_all_of_it(tmp_path: Path, count: int) -> None:
    before = hugepages()
    streams = [
        {"name": "load", "role": "load", "flows": count, "prefix": 8, "per_flow": True},
        {"name": "probe", "role": "latency", "rate": "1kpps", "flows": 100, "per_flow": True},
        {"name": "other", "role": "latency", "rate": "100pps", "flows": 100},
    ]
    with workplace(tmp_path) as place:
        experiment = place.experiment(profile={"streams": streams})
        words = ("--load", "200kpps", "--duration", "3s", "--runs", place.runs)
        done = place.run("trial", experiment, *words)
        print(done.stdout, done.stderr)
        run = place.only_run()
        (trial,) = finished_trials(run)
        by_stream = flows_of(run)
    assert hugepages() == before
    print(
        {each["name"]: (each["sent"], each["received"], each["lost"]) for each in trial["streams"]}
    )
    named = {each["name"]: each for each in trial["streams"]}
    assert {name for name, each in named.items() if each["flows"]} == set(by_stream)
    assert {name.partition("/")[0] for name in by_stream} == {"load", "probe"}
    assert all(len(by_stream[name]) == count for name in by_stream if name.startswith("load"))
    for name, flows in by_stream.items():
        assert_flows_are_all_of_it(named[name], flows)


def test_the_flows_that_a_switch_drops_are_named(place: Workplace) -> None:
    try:
        OvsSettings().check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    lab = {"kind": "ovs", "cpu": CPU, "rules": 2 * FORWARDED}
    load = {"name": "load", "role": "load", "flows": SENT_TO, "per_flow": True}
    experiment = place.experiment(profile={"streams": [load]}, lab=lab)
    words = ("--load", "5kpps", "--duration", "3s", "--runs", place.runs)
    done = place.run("trial", experiment, *words)
    print(done.stdout, done.stderr)
    (trial,) = finished_trials(place.only_run())
    by_stream = flows_of(place.only_run())
    assert len(by_stream) == 2
    for stream in trial["streams"]:
        assert stream["sent"] > SENT_TO
        flows = by_stream[stream["name"]]
        print(stream["name"], stream["flows"])
        assert_flows_are_all_of_it(stream, flows)
        silent = {each["flow"] for each in flows if each["received"] == 0}
        # A switch whose CPU the machine takes away loses some frames of other flows, too.
        lossy = {each["flow"] for each in flows if each["lost"] > 0}
        dropped = set(range(FORWARDED, SENT_TO))
        assert silent == dropped
        assert dropped <= lossy
        assert stream["flows"]["unseen"] == len(dropped)
        assert stream["flows"]["lossy"] == len(lossy)
        most_lost = stream["flows"]["worst"][: len(dropped)]
        network = "198.19" if stream["tx_port"] == 0 else "198.18"
        # .0.1 is flow 0, so flow 1000 is 1001 = 3 · 256 + 233.
        names = {f"dst_ip {network}.3.{233 + n}" for n in range(len(dropped))}
        assert {each["name"] for each in most_lost} == names
