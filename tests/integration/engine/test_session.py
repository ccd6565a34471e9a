"""The life of a session: what is refused, and all the ways to end."""

import signal
from pathlib import Path

import pytest

from plimsoll.version import VERSION
from tests.integration.engine.requests import CPUS, open_request, stream, trial_request
from tests.integration.engine.session import HANGS_AFTER_S, EngineSession

STOP = {"id": 90, "request": "stop"}
HOURS = {"duration_s": 7200, "interval_s": 0.1, "drain_s": 0.1}


def assert_lives(engine: EngineSession) -> None:
    """A stop without a trial is answered, and does nothing."""
    assert engine.ask(STOP) == {"id": 90, "ok": True, "reply": "stop"}


def test_the_engine_introduces_itself(engine: EngineSession) -> None:
    assert engine.hello["version"] == VERSION
    assert engine.hello["pid"] == engine.process.pid
    assert engine.hello["dpdk"].startswith("DPDK ")
    engine.finish()


def test_the_reply_to_open_describes_the_ports(engine: EngineSession) -> None:
    reply = engine.ask(open_request("net_ring0", "net_null0,size=128"))
    described = [(port["port"], port["devargs"], port["driver"]) for port in reply["ports"]]
    assert described == [(0, "net_ring0", "net_ring"), (1, "net_null0,size=128", "net_null")]
    assert all(port["link_up"] for port in reply["ports"])
    assert reply["tsc_hz"] > 10**8
    engine.finish()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"{",
        b'{"id":1,"request":"stop"',
        b"[" * 100_000,
        b'{"id":1,"id":2,"request":"stop"}',
        b'{"id":1,"request":"st\xff\xfeop"}',
        b"\xff\xfe\x00\x01",
        b'{"id":1,"request":"stop\\u0000"}',
        b'{"id":123456789012345678901234567890,"request":"stop"}',
        b"{'id':1}",
        b"x" * (4 << 20),
        b"\xe2\x82\xac" * 100_000,
    ],
    ids=lambda line: repr(line[:40]),
)
def test_a_line_that_cannot_be_read_is_refused_and_the_engine_goes_on(
    engine: EngineSession, line: bytes
) -> None:
    engine.send_line(line)
    reply = engine.reply_to(None)
    assert not reply["ok"]
    assert reply["error"]["message"]
    assert not reply["error"]["fatal"]
    assert_lives(engine)
    engine.finish()


@pytest.mark.parametrize(
    ("line", "number", "where"),
    [
        (b"null", None, ""),
        (b"[1]", None, ""),
        (b'"stop"', None, ""),
        (b"{}", None, "id"),
        (b'{"id":7}', 7, "request"),
        (b'{"id":7,"request":"start"}', 7, "request"),
        (b'{"id":7,"request":"stop","now":true}', 7, "now"),
        (b'{"id":7,"request":"stop","' + "é".encode() * 120 + b'":1}', 7, "é" * 95),
    ],
)
def test_what_is_no_request_is_refused_by_name(
    engine: EngineSession, line: bytes, number: int | None, where: str
) -> None:
    engine.send_line(line)
    error = engine.reply_to(number)["error"]
    assert error["where"] == where
    assert not error["fatal"]
    assert_lives(engine)
    engine.finish()


def test_requests_at_the_wrong_time_are_refused_and_change_nothing(engine: EngineSession) -> None:
    good_open, good_trial = open_request("net_ring0"), trial_request(stream(0, 1000))
    assert engine.ask_in_vain(good_trial) == {
        "where": "request",
        "message": "nothing is open",
        "fatal": False,
    }
    assert engine.ask_in_vain({**good_open, "ports": []})["where"] == "workers[0].tx"
    engine.ask(good_open)
    assert engine.ask_in_vain(good_open)["message"] == "the ports are open already"
    wrong_trial = trial_request(stream(0, 1000, rx_port=1))
    assert engine.ask_in_vain(wrong_trial)["where"] == "streams[0].rx_port"
    assert engine.ask(good_trial)["streams"][0]["received"] == 100
    engine.finish()


def test_during_a_trial_only_a_stop_is_taken(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0"))
    engine.send(trial_request(stream(0, 1000), **HOURS))
    engine.next_interval()
    for request in (trial_request(stream(0, 1000), id=3), open_request("net_ring1", id=4)):
        assert engine.ask_in_vain(request)["message"] == "a trial is running; stop it first"
    engine.send_line(b"what?")
    assert not engine.reply_to(None)["error"]["fatal"]
    engine.ask(STOP)
    assert engine.reply_to(2)["ended_by"] == "stop"
    engine.finish()


def test_a_stop_ends_the_sending_and_still_drains(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0"))
    engine.send(trial_request(stream(0, 200_000), **HOURS))
    engine.next_interval()
    engine.ask(STOP)
    reply = engine.reply_to(2)
    (counts,) = reply["streams"]
    assert reply["ended_by"] == "stop"
    assert reply["sending_s"] < HOURS["duration_s"]
    assert counts["received"] == counts["sent"] > 0
    assert engine.intervals[-1]["phase"] == "drain"
    # And the next trial is as good as any.
    reply = engine.ask(trial_request(stream(0, 10_000), id=3, mark=1001))
    assert reply["ended_by"] == "duration"
    assert reply["streams"][0]["received"] == 1000
    engine.finish()


def test_a_second_stop_ends_the_drain(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0"))
    engine.send(trial_request(stream(0, 1000), **{**HOURS, "drain_s": 60}))
    engine.next_interval()
    engine.ask(STOP)
    engine.ask({**STOP, "id": 91})
    assert engine.reply_to(2)["ended_by"] == "stop"
    drained = engine.intervals[-1]
    assert drained["end_s"] - drained["begin_s"] < 60
    engine.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("open_ports", [True, False])
def test_a_signal_ends_an_idle_engine(
    engine: EngineSession, number: signal.Signals, open_ports: bool
) -> None:
    if open_ports:
        engine.ask(open_request("net_ring0"))
    engine.process.send_signal(number)
    assert engine.end() == 0


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
def test_the_end_of_a_session_ends_its_trial_with_a_reply(engine: EngineSession, how: str) -> None:
    engine.ask(open_request("net_ring0"))
    engine.send(trial_request(stream(0, 1000), **HOURS))
    engine.next_interval()
    if how == "end of input":
        engine.close_input()
    else:
        engine.process.send_signal(signal.Signals[how])
    assert engine.end() == 0
    assert engine.messages[-1]["reply"] == "trial"
    assert engine.messages[-1]["ended_by"] == "stop"
    assert not Path(f"/proc/{engine.hello['pid']}").exists()


def test_a_driver_that_no_longer_reads_ends_the_engine(engine: EngineSession) -> None:
    engine.ask(open_request("net_ring0"))
    engine.send(trial_request(stream(0, 1000), **HOURS))
    engine.next_interval()
    engine.close_output()
    assert engine.process.wait(HANGS_AFTER_S) == 1


def test_what_libraries_print_stays_off_the_protocol(engine: EngineSession) -> None:
    """`next` and `end` take nothing but valid messages; DPDK prints all the same."""
    engine.ask(open_request("net_ring0"))
    files = Path(f"/proc/{engine.process.pid}/fd")
    assert (files / "1").readlink() == (files / "2").readlink()
    engine.finish()
    assert "EAL: " in engine.stderr


def test_a_session_leaves_no_files(engine: EngineSession, tmp_path: Path) -> None:
    engine.ask(open_request("net_ring0"))
    engine.ask(trial_request(stream(0, 1000)))
    engine.finish()
    files = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert files == ["engine.stderr"]


def test_two_engines_side_by_side(tmp_path: Path) -> None:
    with EngineSession(tmp_path, "one") as one, EngineSession(tmp_path, "two") as two:
        for engine, cpu in ((one, CPUS[0]), (two, CPUS[-1])):
            engine.send(open_request("net_ring0", cpu=cpu))
        for engine in (one, two):
            assert engine.reply_to(1)["ok"]
            engine.send(trial_request(stream(0, 50_000)))
        for engine in (one, two):
            reply = engine.reply_to(2)
            assert reply["streams"][0]["sent"] == reply["streams"][0]["received"] == 5000
            assert reply["ports"][0]["stale"] == 0
            engine.finish()
