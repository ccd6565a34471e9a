"""Frames that a port has no room for: two engines on one memif link, one of them not polling."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.engine.requests import DESTINATION, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

RING = 256


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[tuple[EngineSession, EngineSession]]:
    """Two engines with a port each, all that one sends being for the other."""

    def port(role: str) -> str:
        socket = f"socket={tmp_path}/memif.sock,socket-abstract=no"
        return f"net_memif0,role={role},id=0,{socket},rsize={RING.bit_length() - 1}"

    with EngineSession(tmp_path, "near") as near, EngineSession(tmp_path, "far") as far:
        far.send(open_request(port("server")))
        while not (tmp_path / "memif.sock").exists():
            assert far.process.poll() is None, far.stderr
        near.ask(open_request(port("client")))
        assert far.reply_to(1)["ok"]
        yield near, far
        near.finish()
        far.finish()


def test_what_the_queue_does_not_take_is_refused_and_leaves_no_gap(
    linked: tuple[EngineSession, EngineSession],
) -> None:
    near, far = linked
    flows = [{**DESTINATION, "flows": 100}]
    reply = near.ask(trial_request(stream(0, 10_000, fields=flows), mark=7))
    (counts,) = reply["streams"]
    # Nobody empties the ring: it takes what it holds, and not a frame more.
    assert RING - 1 <= counts["sent"] <= RING
    assert counts["refused"] == 2000 - counts["sent"]
    assert counts["skipped"] == counts["received"] == 0

    # The other end now polls, in a trial of the same mark and stream: no number is missing.
    reply = far.ask(trial_request(stream(0, 0.01), mark=7))
    assert reply["streams"][0]["received"] == counts["sent"]
    assert reply["streams"][0]["out_of_order"] == reply["streams"][0]["duplicate"] == 0
    assert sum(interval["streams"][0]["missing"] for interval in far.intervals) == 0


def test_what_an_earlier_trial_left_in_the_queue_is_stale(
    linked: tuple[EngineSession, EngineSession],
) -> None:
    near, far = linked
    reply = near.ask(trial_request(stream(0, 1000), mark=7, duration_s=0.1))
    assert reply["streams"][0]["sent"] == 100
    reply = far.ask(trial_request(stream(0, 0.01), mark=8))
    assert reply["ports"][0]["stale"] == 100
    assert reply["streams"][0]["received"] == 0
