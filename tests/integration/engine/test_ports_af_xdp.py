"""AF_XDP on a kernel interface, through a Linux bridge and back."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.engine.kernel_bed import FAR, NEAR, engine_next_to_a_bridge
from tests.integration.engine.port_bed import assert_carries, open_ports, refusal
from tests.integration.engine.requests import stream, trial_request
from tests.integration.engine.session import EngineSession
from tests.integration.network import Network
from tests.tried_again import SpoiltByMachine

# An IPv4 packet out of an interface, so often, at a pace at which the cable loses none of them.
SEND = """
import socket, struct, sys, time
interface, count = sys.argv[1], int(sys.argv[2])
packet = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, 0, 0, 64, 17, 0, bytes(4), bytes(4))
frame = bytes.fromhex("020000000001 020000000002 0800") + packet + bytes(26)
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as port:
    port.bind((interface, 0))
    for number in range(count):
        port.send(frame)
        if number % 64 == 0:
            time.sleep(0.001)
"""
PORTS = [f"net_af_xdp{port},iface={name}" for port, name in enumerate(NEAR)]


@contextmanager
def bed(folder: Path, why_no_xdp: str | None, mtu: int = 1500) -> Iterator[EngineSession]:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(folder, mtu=mtu) as (engine, _):
        yield engine


@pytest.mark.parametrize("length", [60, 1514])
def test_frames_pass_a_bridge_and_come_back(
    tmp_path: Path, why_no_xdp: str | None, length: int
) -> None:
    with bed(tmp_path, why_no_xdp) as engine:
        ports = open_ports(engine, *PORTS)
        assert [port["driver"] for port in ports] == ["net_af_xdp"] * 2
        assert_carries(engine, length=length)
        engine.finish()


def test_frames_up_to_the_longest(tmp_path: Path, why_no_xdp: str | None) -> None:
    with bed(tmp_path, why_no_xdp, mtu=3400) as engine:
        open_ports(engine, *PORTS, max_frame_bytes=3392)
        assert_carries(engine, length=3392)
        engine.finish()


def test_longer_frames_are_refused(tmp_path: Path, why_no_xdp: str | None) -> None:
    with bed(tmp_path, why_no_xdp) as engine:
        error = refusal(engine, PORTS[0], max_frame_bytes=3393)
        assert error["where"] == "ports[0]"
        assert error["message"] == (
            "driver net_af_xdp takes no frames of 3393 bytes: at most 3392 without FCS"
        )


def test_what_a_full_ring_had_no_room_for_is_missed(tmp_path: Path, why_no_xdp: str | None) -> None:
    """Of all that came to an interface while the loop was away, no frame is without a count."""
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        open_ports(engine, *PORTS)
        before = arrived(place)
        request = trial_request(stream(0, 100, rx_port=1), duration_s=0.5, interval_s=0.05)
        engine.send(request)
        engine.next_interval()
        os.kill(engine.process.pid, signal.SIGSTOP)
        try:
            place.run(sys.executable, "-c", SEND, FAR[1], "5000")
        finally:
            os.kill(engine.process.pid, signal.SIGCONT)
        reply = engine.reply_to(request["id"])
        port, (counts,) = reply["ports"][1], reply["streams"]
        # The ring holds as many frames as the port has descriptors.
        assert port["rx_missed"] >= 5000 - 2 * 1024
        taken = port["foreign"] + counts["received"]
        assert taken + port["rx_missed"] == arrived(place) - before
        engine.finish()


def test_every_buffer_can_be_sent_from(tmp_path: Path, why_no_xdp: str | None) -> None:
    """Sent as fast as it goes, many are under way at once: all that the port took get there."""
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        open_ports(engine, *PORTS)
        burst = stream(0, 0, pacing={"kind": "back-to-back"}, frame_count=40_000, rx_port=1)
        del burst["rate_pps"]
        (counts,) = engine.ask(trial_request(burst, duration_s=2))["streams"]
        # The pool has 10,239 (engine/src/ports/port_setup.c).
        if counts["sent"] < 2 * 10_239:
            raise SpoiltByMachine("the loop was kept from its CPU for most of 2 s")
        link = counters(place, NEAR[0])["tx"]
        assert link["packets"] + link["dropped"] == counts["sent"]
        engine.finish()


def arrived(place: Network) -> int:
    """Frames that the kernel counts on the tester's second interface."""
    return counters(place, NEAR[1])["rx"]["packets"]


def counters(place: Network, name: str) -> dict[str, dict[str, int]]:
    (link,) = json.loads(place.run("ip", "-s", "-j", "link", "show", name))
    return dict(link["stats64"])


def test_the_interface_is_given_back(tmp_path: Path, why_no_xdp: str | None) -> None:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        open_ports(engine, *PORTS)
        assert has_program(place)
        engine.finish()
        assert not has_program(place)


def has_program(place: Network) -> bool:
    return "prog/xdp" in place.run("ip", "link", "show", NEAR[0])
