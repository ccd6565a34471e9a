"""A port's host and the kernel's own ARP, neighbour discovery and ping at the cable's other end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.engine.requests import CPUS, Request, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession
from tests.integration.network import Network, network

NEAR, FAR = "pl-h0", "pl-h1"
OURS = {4: "192.0.2.1", 6: "2001:db8::1"}
THEIRS = {4: "192.0.2.2", 6: "2001:db8::2"}
PINGS, BYTES = 7, 1400
PORT = f"net_af_packet0,iface={NEAR},framecnt=4096"
# Nobody listens there, so the kernel at the other end drops what comes.
SILENT = stream(0, 1000)


@contextmanager
def engine_and_kernel(
    folder: Path, vlan: int | None = None, split: bool = False
) -> Iterator[tuple[EngineSession, Network, str]]:
    """An engine with a host on one end of a cable, and the kernel, with addresses, on the other."""
    with network() as place:
        place.veth(NEAR, FAR)
        end = FAR
        if vlan is not None:
            end = f"{FAR}.{vlan}"
            add_vlan(place, end, vlan)
            place.run("ip", "link", "set", end, "up")
        place.run("sysctl", "-qw", f"net/ipv6/conf/{end}/disable_ipv6=0")
        place.run("ip", "address", "add", f"{THEIRS[4]}/24", "dev", end)
        place.run("ip", "-6", "address", "add", f"{THEIRS[6]}/64", "dev", end, "nodad")
        with EngineSession(folder, within=place.enter) as engine:
            engine.ask(request(vlan, split))
            yield engine, place, end
            engine.finish()


def add_vlan(place: Network, end: str, vlan: int) -> None:
    """A VLAN's interface, where the kernel has such."""
    try:
        place.run("ip", "link", "add", end, "link", FAR, "type", "vlan", "id", str(vlan))
    except AssertionError as error:
        if "Unknown device type" not in str(error):
            raise
        pytest.skip("the kernel has no VLAN interfaces")


def request(vlan: int | None = None, split: bool = False) -> Request:
    """Opens the port; `split` has one loop send and another receive."""
    one_way = [
        {"cpu": CPUS[0], "tx": [[0, 0]], "rx": []},
        {"cpu": CPUS[-1], "tx": [], "rx": [[0, 0]]},
    ]
    asked = open_request(PORT, workers=one_way if split else ())
    asked["ports"][0]["host"] = {"addresses": list(OURS.values())}
    if vlan is not None:
        asked["ports"][0]["host"]["vlan"] = vlan
    return asked


def resolve(engine: EngineSession, *addresses: str, **changes: object) -> list[Request]:
    neighbours = [{"port": 0, "address": address} for address in addresses]
    reply = engine.ask({"id": 9, "request": "resolve", "neighbours": neighbours, **changes})
    return list(reply["neighbours"])


def ping(place: Network, *addresses: str) -> list[str]:
    """What the other end's kernel was answered."""
    program = str(Path(__file__).parents[1] / "pinging.py")
    said = place.run(sys.executable, program, *addresses, str(PINGS), str(BYTES))
    return said.splitlines()


def mac_of(place: Network, name: str) -> str:
    return place.run("cat", f"/sys/class/net/{name}/address").strip()


ALL_ANSWERED = [f"{OURS[4]} {PINGS}", f"{OURS[6]} {PINGS}"]


@pytest.mark.parametrize("vlan", [None, 100])
def test_the_kernel_is_found_and_finds_us(tmp_path: Path, vlan: int | None) -> None:
    with engine_and_kernel(tmp_path, vlan) as (engine, place, end):
        mac = mac_of(place, end)
        found = resolve(engine, THEIRS[4], THEIRS[6])
        assert [(each["address"], each["mac"]) for each in found] == [
            (THEIRS[4], mac),
            (THEIRS[6], mac),
        ]
        assert ping(place, *OURS.values()) == ALL_ANSWERED
        entries = place.run("ip", "neighbour", "show", "dev", end)
        assert entries.count(mac_of(place, NEAR)) == 2


@pytest.mark.parametrize("split", [False, pytest.param(True, marks=pytest.mark.full)])
def test_ping_is_answered_and_counted_while_frames_are_sent(tmp_path: Path, split: bool) -> None:
    if split and len(CPUS) < 2:
        pytest.skip("one CPU cannot poll twice")
    with engine_and_kernel(tmp_path, split=split) as (engine, place, end):
        # What the kernel has not asked for, it has to ask for in the trial.
        place.run("ip", "neighbour", "flush", "dev", end)
        engine.send(trial_request(SILENT, duration_s=600, interval_s=0.2))
        engine.next_interval()
        assert ping(place, *OURS.values()) == ALL_ANSWERED
        engine.send({"id": 3, "request": "stop"})
        report = engine.reply_to(2)
        (port,) = report["ports"]
        host = port["host"]
        assert host["echo"] == 2 * PINGS
        assert host["arp"] >= 1
        assert host["nd"] >= 1
        assert host["answered"] == host["arp"] + host["nd"] + host["echo"]
        assert (host["heard"], host["moved"]) == (0, 0)
        assert port["foreign_kinds"]["arp"] == port["foreign_kinds"]["ipv4"] == 0
        (counts,) = report["streams"]
        assert counts["received"] == counts["corrupt"] == counts["misdirected"] == 0
        sums = dict.fromkeys(host, 0)
        for interval in engine.intervals:
            for kind, frames in interval["ports"][0]["host"].items():
                sums[kind] += frames
        assert sums == host


def test_who_does_not_answer_is_asked_as_often_as_wanted(tmp_path: Path) -> None:
    with engine_and_kernel(tmp_path) as (engine, _, _):
        absent, there = resolve(engine, "192.0.2.77", THEIRS[4], tries=3, wait_s=0.3)
        assert (absent["mac"], absent["tries"]) == (None, 3)
        assert there["mac"] is not None


def test_a_neighbour_that_moves_is_seen_in_the_trial_and_found_after_it(tmp_path: Path) -> None:
    with engine_and_kernel(tmp_path) as (engine, place, end):
        (before,) = resolve(engine, THEIRS[4])
        engine.send(trial_request(SILENT, duration_s=600, interval_s=0.2))
        engine.next_interval()
        place.run("ip", "link", "set", end, "address", "02:00:00:00:00:77")
        place.run("ip", "neighbour", "flush", "dev", end)
        assert ping(place, OURS[4]) == ALL_ANSWERED[:1]
        engine.send({"id": 3, "request": "stop"})
        assert engine.reply_to(2)["ports"][0]["host"]["moved"] >= 1
        (after,) = resolve(engine, THEIRS[4])
        assert (before["mac"] != after["mac"], after["mac"]) == (True, "02:00:00:00:00:77")


def test_resolving_is_for_hosts_and_between_trials(tmp_path: Path) -> None:
    asked = {"id": 9, "request": "resolve", "neighbours": [{"port": 0, "address": THEIRS[4]}]}
    with engine_and_kernel(tmp_path) as (engine, _, _):
        engine.send(trial_request(SILENT, duration_s=600, interval_s=0.2))
        engine.next_interval()
        error = engine.ask_in_vain(asked)
        assert error["message"] == "a trial is running; stop it first"
        engine.ask({"id": 3, "request": "stop"})
        engine.reply_to(2)
        elsewhere = {**asked, "neighbours": [{"port": 1, "address": THEIRS[4]}]}
        assert engine.ask_in_vain(elsewhere)["where"] == "neighbours[0].port"


def test_nothing_is_resolved_before_the_ports_are_open(engine: EngineSession) -> None:
    asked = {"id": 9, "request": "resolve", "neighbours": []}
    assert engine.ask_in_vain(asked)["message"] == "nothing is open"
