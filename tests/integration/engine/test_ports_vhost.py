"""vhost-user and virtio-user: as a virtual machine's network card, without the machine."""

from pathlib import Path

import pytest

from tests.integration.engine.port_bed import assert_carries, open_ports, refusal, stream
from tests.integration.engine.requests import CPUS, open_request, trial_request
from tests.integration.engine.session import EngineSession


@pytest.mark.parametrize("queues", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_both_ends_in_one_engine_whichever_is_named_first(
    engine: EngineSession, tmp_path: Path, queues: int
) -> None:
    path = tmp_path / "vhost.sock"
    ports = open_ports(
        engine,
        f"net_virtio_user0,path={path},queues={queues}",
        f"net_vhost0,iface={path},queues={queues}",
        queues=queues,
    )
    assert [port["driver"] for port in ports] == ["net_virtio_user", "net_vhost"]
    for length in (60, 1514):
        assert_carries(engine, queues=queues, length=length)
    engine.finish()


def test_jumbo_frames(engine: EngineSession, tmp_path: Path) -> None:
    path = tmp_path / "vhost.sock"
    open_ports(
        engine, f"net_vhost0,iface={path}", f"net_virtio_user0,path={path}", max_frame_bytes=9212
    )
    assert_carries(engine, length=9212)
    engine.finish()


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_between_two_processes(engine: EngineSession, tmp_path: Path) -> None:
    """The other engine's frames are of another trial to this one, so it counts them as stale."""
    path = tmp_path / "vhost.sock"
    with EngineSession(tmp_path, "other") as other:
        client = open_request(f"net_virtio_user0,path={path}", cpu=CPUS[-1], link_wait_s=50)
        # It waits for the server, which comes later.
        other.send(client)
        open_ports(engine, f"net_vhost0,iface={path}", link_wait_s=50)
        assert other.reply_to(1)["ok"], other.stderr
        # So many that the queue, which no one empties meanwhile, takes them.
        (client,) = other.ask(trial_request(stream(0, 0, 0, 0, 60), mark=71))["streams"]
        assert client["sent"] == 100
        reply = engine.ask(trial_request(stream(0, 0, 0, 0, 60), mark=72))
        assert reply["ports"][0]["stale"] == client["sent"]
        other.finish()
    engine.finish()


def test_a_virtio_user_that_would_wait_without_end_is_refused(
    engine: EngineSession, tmp_path: Path
) -> None:
    error = refusal(engine, f"net_virtio_user0,path={tmp_path}/v.sock,server=1")
    assert error["where"] == "ports[0]"
    assert "server=1" in error["message"]


def test_a_vhost_socket_to_which_no_one_comes(engine: EngineSession, tmp_path: Path) -> None:
    error = refusal(engine, f"net_vhost0,iface={tmp_path}/v.sock", link_wait_s=0.1)
    assert error["message"] == (
        f"the link did not come up: no peer came to the socket {tmp_path}/v.sock"
    )
