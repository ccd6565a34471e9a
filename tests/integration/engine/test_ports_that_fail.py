"""A port that cannot be had is named in a fatal error, and the engine exits with status 1."""

from pathlib import Path

import pytest

from tests.integration.engine.requests import CPUS, Request, open_request
from tests.integration.engine.session import EngineSession, Message


def fatal_error(engine: EngineSession, request: Request) -> Message:
    error = engine.ask_in_vain(request)
    assert error["fatal"]
    assert engine.end() == 1
    return error


def memif(role: str, socket: Path) -> str:
    return f"net_memif0,role={role},id=0,socket={socket},socket-abstract=no"


def test_a_link_that_does_not_come_up(engine: EngineSession, tmp_path: Path) -> None:
    lonely = memif("server", tmp_path / "memif.sock")
    error = fatal_error(engine, open_request("net_ring0", lonely, link_wait_s=0.05))
    assert error["where"] == "ports[1]"
    assert error["message"].startswith("the link did not come up")


def test_a_socket_that_no_one_serves(engine: EngineSession, tmp_path: Path) -> None:
    unserved = memif("client", tmp_path / "memif.sock")
    error = fatal_error(engine, open_request("net_ring0", unserved, link_wait_s=0.05))
    assert error["where"] == "ports[1]"
    assert "memif.sock" in error["message"]


@pytest.mark.parametrize(
    "devargs", ["net_nonsense0", "net_pcap0,rx_pcap=/proc/nonexistent.pcap", "ffff:ff:1f.7"]
)
def test_a_device_that_cannot_be_opened(engine: EngineSession, devargs: str) -> None:
    error = fatal_error(engine, open_request("net_null0", devargs))
    assert error["where"] == "ports[1]"
    assert error["message"].startswith("DPDK cannot open this device")


def test_a_device_twice(engine: EngineSession) -> None:
    error = fatal_error(engine, open_request("net_ring0", "net_ring0"))
    assert error["where"] == "ports[1]"


def test_too_little_memory_for_the_buffers(engine: EngineSession) -> None:
    request = open_request("net_ring0", memory={"huge": False, "megabytes": 16})
    error = fatal_error(engine, request)
    assert error["where"] == "ports[0]"
    assert "memory" in error["message"]


def test_a_cpu_that_does_not_exist(engine: EngineSession) -> None:
    workers = [{"cpu": 1023, "tx": [[0, 0]], "rx": [[0, 0]]}]
    error = fatal_error(engine, open_request("net_ring0", workers=workers, main_cpus=CPUS))
    assert error["message"].startswith("DPDK did not start")


def test_main_cpus_that_do_not_exist(engine: EngineSession) -> None:
    error = fatal_error(engine, open_request("net_ring0", main_cpus=[1023]))
    assert error["where"] == "main_cpus"
    assert error["message"] == "cannot run there: Invalid argument"
