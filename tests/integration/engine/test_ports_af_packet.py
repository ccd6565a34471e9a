"""AF_PACKET on a kernel interface, through a Linux bridge and back."""

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.engine.kernel_bed import FAR, NEAR, engine_next_to_a_bridge
from tests.integration.engine.port_bed import assert_carries, open_ports, refusal
from tests.integration.engine.requests import CPUS, stream, trial_request
from tests.integration.engine.session import EngineSession
from tests.tried_again import SpoiltByMachine

# UDP over the loopback interface, until it is killed.
TALK = """
import socket
talker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
heard.bind(("127.0.0.1", 0))
print("talks", flush=True)
while True:
    talker.sendto(b"x" * 100, heard.getsockname())
"""
# An IPv4 packet of so many bytes out of an interface, so often.
SEND = """
import socket, struct, sys
interface, length, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
packet = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 17, 0, bytes(4), bytes(4))
frame = bytes.fromhex("020000000001 020000000002 0800") + packet + bytes(length - 20)
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as port:
    port.bind((interface, 0))
    for _ in range(count):
        port.send(frame)
"""
# A queue long enough for a machine that is busy: 4096 frames of 2 kB.
PORTS = [f"net_af_packet{port},iface={name},framecnt=4096" for port, name in enumerate(NEAR)]


@pytest.mark.parametrize("length", [60, 1514])
def test_frames_pass_a_bridge_and_come_back(tmp_path: Path, length: int) -> None:
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        ports = open_ports(engine, *PORTS)
        assert [port["driver"] for port in ports] == ["net_af_packet"] * 2
        for name, port in zip(NEAR, ports, strict=True):
            assert port["mac"] in place.run("ip", "link", "show", name)
        assert_carries(engine, length=length)
        engine.finish()


def test_flows_are_fanned_out_over_queues(tmp_path: Path) -> None:
    with engine_next_to_a_bridge(tmp_path) as (engine, _):
        ports = open_ports(engine, *(f"{port},qpairs=2" for port in PORTS), queues=2)
        assert [port["rx_queues"] for port in ports] == [2, 2]
        assert_carries(engine, queues=2, fanned_out=True)
        engine.finish()


def test_jumbo_frames_in_buffers_that_hold_them(tmp_path: Path) -> None:
    long = [f"{port},blocksz=299008,framesz=9344" for port in PORTS]
    with engine_next_to_a_bridge(tmp_path, mtu=9200) as (engine, _):
        open_ports(engine, *long, max_frame_bytes=9212)
        assert_carries(engine, length=9212)
        engine.finish()


def test_what_a_socket_hears_until_it_is_bound_is_none_of_a_trial_s(tmp_path: Path) -> None:
    """From when it is made it hears every interface of the namespace."""
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        # It would speak of multicast groups by itself.
        place.run("ip", "link", "set", "pl-br", "down")
        talker = subprocess.Popen(
            with_parent_death_signal([*place.enter, sys.executable, "-c", TALK]),
            stdout=subprocess.PIPE,
        )
        try:
            assert talker.stdout is not None
            assert talker.stdout.readline() == b"talks\n"
            open_ports(engine, *PORTS)
        finally:
            talker.kill()
            talker.communicate()
        engine.ask({"id": 2, "request": "resolve", "neighbours": []})
        reply = engine.ask(trial_request(stream(0, 100, rx_port=1), duration_s=0.2))
        assert [port["foreign"] for port in reply["ports"]] == [0, 0]
        engine.finish()


def test_frames_longer_than_the_buffers_are_truncated_and_not_foreign(tmp_path: Path) -> None:
    with engine_next_to_a_bridge(tmp_path, mtu=9200) as (engine, place):
        open_ports(engine, *PORTS)
        for length, count in ((3000, 20), (1000, 3)):
            place.run(sys.executable, "-c", SEND, FAR[0], str(length), str(count))
        reply = engine.ask(trial_request(stream(0, 100, rx_port=1), duration_s=0.2))
        port = reply["ports"][0]
        assert port["truncated"] == 20
        # The kernel's own, of multicast groups, may be among them.
        assert 3 <= port["foreign_kinds"]["ipv4"] < 20
        engine.finish()


def test_back_to_back_frames_wait_for_room_and_all_go_out(tmp_path: Path) -> None:
    """A queue of 16 frames takes no whole burst of 64."""
    short = [f"net_af_packet{port},iface={name},framecnt=16" for port, name in enumerate(NEAR)]
    burst = stream(0, 0, pacing={"kind": "back-to-back"}, frame_count=20_000, rx_port=1)
    del burst["rate_pps"]
    with engine_next_to_a_bridge(tmp_path) as (engine, _):
        open_ports(engine, *short)
        (counts,) = engine.ask(trial_request(burst, duration_s=2))["streams"]
        assert (counts["sent"], counts["refused"]) == (20_000, 0)
        engine.finish()


def test_what_the_kernel_had_no_room_for_goes_out_before_the_trial_ends(tmp_path: Path) -> None:
    """The interface is slow: its socket's buffer is full when the last frame is in the ring."""
    burst = stream(0, 0, pacing={"kind": "back-to-back"}, frame_count=3000, rx_port=1)
    del burst["rate_pps"]
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        slow = ("root", "tbf", "rate", "20mbit", "burst", "2000", "limit", "10000000")
        try:
            place.run("tc", "qdisc", "add", "dev", NEAR[0], *slow)
        except AssertionError as refused:
            if "qdisc kind is unknown" not in str(refused):
                raise
            pytest.skip(f"this kernel has no token bucket filter: {refused}")
        open_ports(engine, *(f"{port},qdisc_bypass=0" for port in PORTS))
        (counts,) = engine.ask(trial_request(burst, duration_s=0.2, drain_s=5))["streams"]
        assert counts["received"] == counts["sent"]
        if counts["sent"] < burst["frame_count"]:
            raise SpoiltByMachine("the loop was kept from its CPU for most of 0.2 s")
        engine.finish()


def test_too_many_queues_are_refused_with_the_drivers_number(tmp_path: Path) -> None:
    with engine_next_to_a_bridge(tmp_path) as (engine, _):
        worker = {"cpu": CPUS[0], "tx": [[0, 0]], "rx": [[0, 0], [0, 1]]}
        error = refusal(engine, PORTS[0], workers=[worker])
        assert error["where"] == "ports[0]"
        assert error["message"] == (
            "2 receive queues are requested; driver net_af_packet has at most 1 here"
        )


@pytest.mark.parametrize(
    ("devargs", "said"),
    [
        (
            PORTS[0],
            "frames of 9212 bytes do not fit the device's buffers of 1982: "
            "add blocksz=299008,framesz=9344 to its devargs",
        ),
        (
            PORTS[0] + ",blocksz=299008,framesz=9344",
            "the MTU of pl-a0, 1500, is too small for frames of 9212 bytes: "
            "ip link set pl-a0 mtu 9198",
        ),
    ],
)
def test_frames_that_are_too_long_are_refused_with_a_remedy(
    tmp_path: Path, devargs: str, said: str
) -> None:
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        error = refusal(engine, devargs, max_frame_bytes=9212)
        assert (error["where"], error["message"]) == ("ports[0]", said)
        # The interface is its owner's.
        assert "mtu 1500" in place.run("ip", "link", "show", NEAR[0])


def test_an_interface_that_is_not_there(engine: EngineSession) -> None:
    error = refusal(engine, "net_af_packet0,iface=pl-nowhere")
    assert error["where"] == "ports[0]"
    assert error["message"].startswith("DPDK cannot open this device")
