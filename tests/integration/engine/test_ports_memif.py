"""memif: shared memory to another process, here a second engine or dpdk-testpmd."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.dut.ports.memif_port import memif_devargs
from plimsoll.host.processes.affinity import raise_priority
from plimsoll.host.processes.child import with_parent_death_signal
from tests.integration.command import until
from tests.integration.engine.port_bed import assert_carries, open_ports, refusal
from tests.integration.engine.requests import CPUS
from tests.integration.engine.session import EngineSession

needs_testpmd = pytest.mark.skipif(
    shutil.which("dpdk-testpmd") is None,
    reason="dpdk-testpmd is missing: install dpdk-dev (Debian 12) or dpdk (Fedora)",
)


@contextmanager
def forwarder(folder: Path, *vdevs: str, mbuf_size: int = 2176) -> Iterator[None]:
    """A forwarder that swaps addresses between two ports."""
    lcores = f"0@({','.join(map(str, CPUS))}),1@{CPUS[-1]}"
    with (folder / "testpmd.log").open("wb") as log:
        process = subprocess.Popen(
            with_parent_death_signal(
                [
                    *("dpdk-testpmd", "--lcores", lcores, "--no-pci", "--file-prefix", "peer"),
                    *("--no-huge", "-m", "512", "--no-shconf", "--no-telemetry"),
                    *(word for vdev in vdevs for word in ("--vdev", vdev)),
                    *("--", "--forward-mode=macswap", "--nb-cores=1"),
                    *("--total-num-mbufs=16384", f"--mbuf-size={mbuf_size}"),
                ]
            ),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "RUNTIME_DIRECTORY": str(folder)},
            start_new_session=True,
        )
    raise_priority(process.pid)
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def ends(path: Path, buffer_bytes: int = 2048) -> tuple[list[str], list[str]]:
    """The devargs of two servers, and of the clients that connect to them."""
    servers = [memif_devargs("server", port, path, 1024, buffer_bytes) for port in (0, 1)]
    clients = [memif_devargs("client", port, path, 1024, buffer_bytes) for port in (0, 1)]
    return servers, clients


def test_both_ends_in_one_engine_whichever_is_named_first(
    engine: EngineSession, tmp_path: Path
) -> None:
    server, client = (f"net_memif{port},id=0" for port in (0, 1))
    path = f"socket={tmp_path}/memif.sock,socket-abstract=no"
    ports = open_ports(
        engine, f"{client},role=client,{path}", f"{server},role=server,{path}", queues=2
    )
    assert [port["driver"] for port in ports] == ["net_memif", "net_memif"]
    assert all(port["link_up"] for port in ports)
    assert_carries(engine, queues=2)
    engine.finish()


@needs_testpmd
def test_through_testpmd_that_listens_only_later(engine: EngineSession, tmp_path: Path) -> None:
    servers, clients = ends(tmp_path / "memif.sock")
    engine.send(
        {
            "id": 1,
            "request": "open",
            "memory": {"huge": False, "megabytes": 192},
            "main_cpus": CPUS,
            "workers": [{"cpu": CPUS[0], "tx": [[0, 0], [1, 0]], "rx": [[0, 0], [1, 0]]}],
            "ports": [{"devargs": client} for client in clients],
            "link_wait_s": 50,
        }
    )
    until(lambda: "EAL: " in engine.stderr, "the engine to open its ports")
    with forwarder(tmp_path, *servers):
        assert engine.reply_to(1)["ok"], engine.stderr
        settle(engine)
        assert_carries(engine)
    engine.finish()


@needs_testpmd
@pytest.mark.parametrize(
    "length",
    [pytest.param(2049, marks=pytest.mark.full), pytest.param(9212, marks=pytest.mark.slow)],
)
def test_frames_longer_than_the_usual_buffers(
    engine: EngineSession, tmp_path: Path, length: int
) -> None:
    buffer_bytes = -(-length // 64) * 64
    servers, clients = ends(tmp_path / "memif.sock", buffer_bytes)
    with forwarder(tmp_path, *servers, mbuf_size=buffer_bytes + 256):
        open_ports(engine, *clients, max_frame_bytes=length, link_wait_s=50)
        settle(engine)
        for size in (60, 2048, length):
            assert_carries(engine, length=size)
    engine.finish()


def settle(engine: EngineSession) -> None:
    """testpmd begins to forward a moment after its links are up."""
    for _ in range(100):
        try:
            assert_carries(engine)
        except AssertionError:
            continue
        return


def test_frames_longer_than_the_buffers_are_refused_with_what_to_add(
    engine: EngineSession, tmp_path: Path
) -> None:
    path = tmp_path / "memif.sock"
    _, (client, _) = ends(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(path))
    error = refusal(engine, client, max_frame_bytes=9212, link_wait_s=1)
    assert error["where"] == "ports[0]"
    assert error["message"] == (
        "frames of 9212 bytes do not fit the device's buffers of 2048: "
        "add bsize=9216 to its devargs"
    )


def test_the_wait_for_a_peer_ends_with_the_input(engine: EngineSession, tmp_path: Path) -> None:
    _, (client, _) = ends(tmp_path / "memif.sock")
    every = [[0, 0]]
    engine.send(
        {
            "id": 1,
            "request": "open",
            "memory": {"huge": False, "megabytes": 128},
            "main_cpus": CPUS,
            "workers": [{"cpu": CPUS[0], "tx": every, "rx": every}],
            "ports": [{"devargs": client}],
            "link_wait_s": 600,
        }
    )
    engine.close_input()
    assert engine.end() == 1
    assert engine.messages[-1]["error"]["message"] == "ended while waiting for links"
