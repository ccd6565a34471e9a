"""Links taken down and brought up by request, between trials and while one runs."""

import os
from pathlib import Path

import pytest

from tests.integration.engine.port_bed import open_ports
from tests.integration.engine.requests import Request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.integration.network import Network, network

NAMES = ("pl-t0", "pl-t1")
STOP = {"id": 9, "request": "stop"}

needs_tap = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun cannot be opened"
)


def link(port: int, *, up: bool) -> Request:
    return {"id": 5, "request": "link", "port": port, "up": up}


def set_link(engine: EngineSession, port: int, *, up: bool) -> None:
    """The reply has the link as it then is; of TAP and rings that is at once as requested."""
    reply = engine.ask(link(port, up=up))
    assert (reply["reply"], reply["port"], reply["link_up"]) == ("link", port, up)


def flags(place: Network, name: str) -> set[str]:
    """What the kernel says of an interface: UP, and LOWER_UP for its carrier."""
    line = place.run("ip", "-oneline", "link", "show", name)
    return set(line[line.index("<") + 1 : line.index(">")].split(","))


def of_port(interval: Message, port: int) -> Message:
    (found,) = [each for each in interval["ports"] if each["port"] == port]
    return dict(found)


@needs_tap
def test_a_link_goes_down_and_comes_back_while_frames_are_sent(tmp_path: Path) -> None:
    """Over a bridge of the kernel's, whose port has no link either in the meantime."""
    devargs = [f"net_tap{port},iface={name}" for port, name in enumerate(NAMES)]
    with network() as place, EngineSession(tmp_path, within=place.enter) as engine:
        open_ports(engine, *devargs)
        place.silence(*NAMES)
        place.bridge("pl-br", *NAMES)
        engine.send(trial_request(stream(0, 2000, rx_port=1), duration_s=600, interval_s=0.1))
        while not (before := engine.next_interval())["streams"][0]["received"]:
            pass
        assert of_port(before, 0)["link_up"]

        set_link(engine, 0, up=False)
        assert not {"UP", "LOWER_UP"} & flags(place, NAMES[0])
        assert {"UP", "LOWER_UP"} <= flags(place, NAMES[1])
        # What was under way comes in, however late.
        while engine.next_interval()["streams"][0]["received"]:
            pass
        down = [engine.next_interval() for _ in range(3)]
        for interval in down:
            assert not of_port(interval, 0)["link_up"]
            assert of_port(interval, 1)["link_up"]
            (counts,) = interval["streams"]
            assert (counts["sent"], counts["received"]) == (0, 0)
        refused = sum(interval["streams"][0]["refused"] for interval in down)
        assert refused > 0

        set_link(engine, 0, up=True)
        assert {"UP", "LOWER_UP"} <= flags(place, NAMES[0])
        while not (after := engine.next_interval())["streams"][0]["received"]:
            pass
        assert of_port(after, 0)["link_up"]
        engine.ask(STOP)
        reply = engine.reply_to(2)
        assert reply["ended_by"] == "stop"
        (counts,) = reply["streams"]
        assert counts["missing"] == counts["sent"] - counts["received"] >= 0
        assert counts["refused"] >= refused
        engine.finish()


@needs_tap
def test_a_trial_begins_on_a_link_that_was_taken_down(tmp_path: Path) -> None:
    with network() as place, EngineSession(tmp_path, within=place.enter) as engine:
        open_ports(engine, f"net_tap0,iface={NAMES[0]}")
        set_link(engine, 0, up=False)
        reply = engine.ask(trial_request(stream(0, 1000), duration_s=0.4, interval_s=0.1))
        assert reply["ended_by"] == "duration"
        assert not of_port(reply, 0)["link_up"]
        (counts,) = reply["streams"]
        assert (counts["sent"], counts["refused"]) == (0, 400)
        engine.finish()


@needs_tap
def test_a_link_that_goes_down_by_itself_still_ends_the_trial(tmp_path: Path) -> None:
    """Also one that had been taken down by request and was up again since."""
    with network() as place, EngineSession(tmp_path, within=place.enter) as engine:
        open_ports(engine, f"net_tap0,iface={NAMES[0]}")
        set_link(engine, 0, up=False)
        set_link(engine, 0, up=True)
        engine.send(trial_request(stream(0, 100), duration_s=600, interval_s=0.1))
        engine.next_interval()
        place.run("ip", "link", "set", NAMES[0], "down")
        assert engine.reply_to(2)["ended_by"] == "link_down"
        engine.finish()


def test_a_ring_says_that_it_is_down_and_goes_on_passing_frames(loopback: EngineSession) -> None:
    set_link(loopback, 0, up=False)
    reply = loopback.ask(trial_request(stream(0, 1000), duration_s=0.4, interval_s=0.1, mark=1100))
    assert reply["ended_by"] == "duration"
    assert not of_port(reply, 0)["link_up"]
    (counts,) = reply["streams"]
    assert (counts["sent"], counts["received"], counts["refused"]) == (400, 400, 0)
    set_link(loopback, 0, up=True)
    reply = loopback.ask(trial_request(stream(0, 1000), mark=1101))
    assert of_port(reply, 0)["link_up"]


def test_links_that_a_driver_cannot_take_down_are_refused_by_its_name(
    engine: EngineSession, tmp_path: Path
) -> None:
    socket = f"socket={tmp_path}/memif.sock,socket-abstract=no"
    open_ports(
        engine,
        *(f"net_memif{n},role={role},id=0,{socket}" for n, role in enumerate(("server", "client"))),
    )
    for up, change in ((False, "take links down"), (True, "bring links up")):
        error = engine.ask_in_vain(link(1, up=up))
        assert (error["where"], error["fatal"]) == ("port", False)
        assert error["message"] == (
            f"driver net_memif cannot {change}: do it on the other side, in the DUT, or use a "
            "port whose driver can, such as net_tap"
        )
    assert engine.ask_in_vain(link(2, up=False))["message"] == "must be an integer from 0 to 1"
    assert engine.ask(trial_request(stream(0, 1000)))["ended_by"] == "duration"
    engine.finish()


def test_nothing_is_open_yet(engine: EngineSession) -> None:
    assert engine.ask_in_vain(link(0, up=False))["message"] == "nothing is open"
