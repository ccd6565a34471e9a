"""A memif peer that goes in mid-trial, in every way it can: the engine tells, and lives."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.engine.memif_relay import MemifRelay
from tests.integration.engine.requests import CPUS, Request, open_request, stream, trial_request
from tests.integration.engine.session import HANGS_AFTER_S, EngineSession, Message

HOURS = {"duration_s": 7200, "interval_s": 0.2, "drain_s": 0.05}
# Both at full rate, so that a worker is as good as always in the midst of a burst.
FLOOD = trial_request(stream(0, 1e8), **{**HOURS, "catch_up_us": 1000})
# Before munmap() waited for the workers, about every third hang-up killed the engine.
HANG_UPS = 5


def memif(role: str, socket: Path) -> str:
    return f"net_memif0,role={role},id=0,socket={socket},socket-abstract=no,rsize=12"


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + HANGS_AFTER_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


class Peers:
    """An engine with a memif server's port, and one with a client's."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.socket = folder / "server.sock"
        self.server = stack.enter_context(EngineSession(folder, "server"))
        self.client = stack.enter_context(EngineSession(folder, "client"))

    def open(self, client_socket: Path | None = None) -> None:
        """Open both ports and wait for their links."""
        self.server.send(open_request(memif("server", self.socket), cpu=CPUS[-1]))
        wait_for(self.socket)
        if client_socket is not None:
            relay = MemifRelay(client_socket, self.socket)
            self._relay = self._stack.enter_context(relay)
        self.client.ask(open_request(memif("client", client_socket or self.socket), cpu=CPUS[0]))
        assert self.server.reply_to(1)["ok"]

    def flood(self) -> None:
        """Start a trial on both, each sending to the other."""
        for engine in (self.server, self.client):
            engine.send(FLOOD)
        for engine in (self.server, self.client):
            deadline = time.monotonic() + HANGS_AFTER_S
            while (interval := engine.next_interval())["streams"][0]["received"] == 0:
                assert time.monotonic() < deadline, f"nothing comes in: {interval}"

    def hang_up(self) -> None:
        self._relay.hang_up()

    def another_client(self) -> EngineSession:
        return self._stack.enter_context(EngineSession(self.folder, "another"))


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Peers]:
    with ExitStack() as stack:
        yield Peers(tmp_path, stack)


def assert_link_lost(engine: EngineSession) -> Message:
    reply = engine.reply_to(FLOOD["id"])
    assert reply["ended_by"] == "link_down"
    assert not reply["ports"][0]["link_up"]
    counts = reply["streams"][0]
    assert counts["sent"] > 0
    assert counts["received"] > 0
    return reply


@pytest.mark.parametrize(
    "time_over", [0, *(pytest.param(n, marks=pytest.mark.full) for n in range(1, HANG_UPS))]
)
def test_a_connection_that_breaks_in_mid_trial(
    peers: Peers, tmp_path: Path, time_over: int
) -> None:
    peers.open(client_socket=tmp_path / "relay.sock")
    peers.flood()
    peers.hang_up()
    for engine in (peers.server, peers.client):
        assert_link_lost(engine)
        engine.finish()


def kill(engine: EngineSession) -> None:
    engine.process.kill()


def end_input(engine: EngineSession) -> None:
    engine.close_input()


def terminate(engine: EngineSession) -> None:
    engine.process.terminate()


ENDS = [kill, *(pytest.param(end, marks=pytest.mark.full) for end in (end_input, terminate))]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("goes", ["server", "client"])
def test_a_peer_that_ends_in_mid_trial(
    peers: Peers, goes: str, end: Callable[[EngineSession], None]
) -> None:
    peers.open()
    peers.flood()
    gone, stays = (peers.server, peers.client) if goes == "server" else (peers.client, peers.server)
    end(gone)
    # Its last words must be read for it to end.
    status = gone.end()
    assert_link_lost(stays)
    if end is not kill:
        assert status == 0
        assert gone.messages[-1]["reply"] == "trial"
    stays.finish()


@pytest.mark.slow
def test_a_server_goes_on_with_the_next_client(peers: Peers) -> None:
    peers.open()
    peers.flood()
    peers.client.process.kill()
    assert_link_lost(peers.server)
    another = peers.another_client()
    another.ask(open_request(memif("client", peers.socket), cpu=CPUS[0]))
    peers.server.send(trial_of(10_000, id=3, mark=7, duration_s=0.5))
    another.send(trial_of(10_000, id=3, mark=7, duration_s=0.5))
    # Neither ends before both trials have, for its end takes the other's link down.
    for reply in [engine.reply_to(3) for engine in (peers.server, another)]:
        assert reply["ended_by"] == "duration"
        assert reply["ports"][0]["link_up"]
        assert reply["streams"][0]["received"] > 0
    for engine in (peers.server, another):
        engine.finish()


@pytest.mark.slow
def test_a_client_whose_server_is_gone_says_so_in_each_trial(peers: Peers) -> None:
    peers.open()
    peers.flood()
    peers.server.process.kill()
    assert_link_lost(peers.client)
    for number in (3, 4):
        reply = peers.client.ask(trial_of(10_000, id=number, mark=number))
        assert reply["ended_by"] == "link_down"
        assert not reply["ports"][0]["link_up"]
        assert reply["streams"][0]["received"] == 0
    peers.client.finish()


def trial_of(rate_pps: float, **changes: object) -> Request:
    return trial_request(stream(0, rate_pps), **changes)


@pytest.mark.parametrize("end", ENDS)
def test_an_engine_that_ends_in_mid_trial_leaves_nothing(
    peers: Peers, tmp_path: Path, end: Callable[[EngineSession], None]
) -> None:
    peers.open()
    peers.flood()
    end(peers.client)
    peers.client.end()
    assert_link_lost(peers.server)
    peers.server.finish()
    left = {path.name for path in tmp_path.rglob("*") if not path.is_dir()}
    assert left <= {"server.stderr", "client.stderr", peers.socket.name}
    for engine in (peers.server, peers.client):
        assert not Path(f"/proc/{engine.hello['pid']}").exists()
