"""Frames that a port has no room for: two engines on one memif link, one of them not polling."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.engine.requests import (
    CPUS,
    DESTINATION,
    Request,
    open_request,
    stream,
    trial_request,
)
from tests.integration.engine.session import EngineSession

RING = 256
STOP = {"id": 9, "request": "stop"}


pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[tuple[EngineSession, EngineSession]]:
    """Two engines with a port each, all that one sends being for the other."""

    def open_as(role: str, cpu: int) -> Request:
        socket = f"socket={tmp_path}/memif.sock,socket-abstract=no"
        device = f"net_memif0,role={role},id=0,{socket},rsize={RING.bit_length() - 1}"
        return open_request(device, cpu=cpu)

    with EngineSession(tmp_path, "near") as near, EngineSession(tmp_path, "far") as far:
        far.send(open_as("server", CPUS[-1]))
        while not (tmp_path / "memif.sock").exists():
            assert far.process.poll() is None, far.stderr
        near.ask(open_as("client", CPUS[0]))
        assert far.reply_to(1)["ok"]
        yield near, far
        near.finish()
        far.finish()


def test_a_queue_that_no_one_empties_takes_what_it_holds(
    linked: tuple[EngineSession, EngineSession],
) -> None:
    near, _ = linked
    (counts,) = near.ask(trial_request(stream(0, 10_000)))["streams"]
    assert RING - 1 <= counts["sent"] <= RING
    assert counts["refused"] == 1000 - counts["sent"]
    assert counts["skipped"] == counts["received"] == 0


def test_refused_frames_leave_no_gap(linked: tuple[EngineSession, EngineSession]) -> None:
    near, far = linked
    # Long enough that both ends' intervals are read faster than they come.
    hours = {"duration_s": 7200, "interval_s": 0.2, "mark": 7}
    near.send(trial_request(stream(0, 20_000, fields=[DESTINATION]), **hours))
    while not near.next_interval()["streams"][0]["refused"]:
        pass
    # Now the other end polls, in a trial of the same mark and stream, until all is over.
    far.send(trial_request(stream(0, 0.01), **hours))
    received = 0
    while received < 4 * RING:
        received += far.next_interval()["streams"][0]["received"]
    near.ask(STOP)
    sent = near.reply_to(2)["streams"][0]["sent"]
    far.ask(STOP)
    (counts,) = far.reply_to(2)["streams"]
    assert counts["received"] == sent > 4 * RING
    assert counts["out_of_order"] == counts["duplicate"] == 0
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
