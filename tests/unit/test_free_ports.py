"""Ports for programs that take a number: no two processes of tests are given the same one."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.free_ports import free_port, free_ports


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """The only ports that there are to choose from, which nobody has."""
    monkeypatch.setattr("tests.free_ports._holders", holders := [])
    found = free_ports(2)
    for each in holders:
        each.close()
    monkeypatch.setattr("tests.free_ports._candidates", lambda: iter(found))
    yield found[0], found[1]
    for each in holders:
        each.close()


def test_each_is_another_and_none_is_one_that_the_kernel_gives_to_whoever_asks() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert all(1024 < port < first or last < port < 65536 for port in ports)


def test_one_that_another_process_was_given_is_passed_over(two: tuple[int, int]) -> None:
    """Though no program listens on it yet."""
    given, ours = os.pipe()
    if (other := os.fork()) == 0:
        try:
            os.write(ours, str(free_port()).encode())
            signal.pause()
        finally:
            os._exit(1)
    assert int(os.read(given, 10)) == two[0]
    assert free_port() == two[1]
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_one_that_a_program_has_is_passed_over(two: tuple[int, int], kind: int) -> None:
    with socket.socket(socket.AF_INET, kind) as program:
        program.bind(("127.0.0.1", two[0]))
        assert free_port() == two[1]
        with pytest.raises(AssertionError, match="no port is free"):
            free_port()
