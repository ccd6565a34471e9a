"""AF_XDP on a kernel interface, through a Linux bridge and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.engine.kernel_bed import NEAR, engine_next_to_a_bridge
from tests.integration.engine.port_bed import assert_carries, open_ports, refusal
from tests.integration.engine.session import EngineSession
from tests.integration.network import Network

PORTS = [f"net_af_xdp{port},iface={name}" for port, name in enumerate(NEAR)]


@contextmanager
def bed(folder: Path, why_no_xdp: str | None, mtu: int = 1500) -> Iterator[EngineSession]:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(folder, mtu=mtu) as (engine, _):
        yield engine


@pytest.mark.parametrize("length", [60, 1514])
def test_frames_pass_a_bridge_and_come_back(
    tmp_path: Path, why_no_xdp: str | None, length: int
) -> None:
    with bed(tmp_path, why_no_xdp) as engine:
        ports = open_ports(engine, *PORTS)
        assert [port["driver"] for port in ports] == ["net_af_xdp"] * 2
        assert_carries(engine, length=length)
        engine.finish()


def test_frames_up_to_the_longest(tmp_path: Path, why_no_xdp: str | None) -> None:
    with bed(tmp_path, why_no_xdp, mtu=3400) as engine:
        open_ports(engine, *PORTS, max_frame_bytes=3392)
        assert_carries(engine, length=3392)
        engine.finish()


def test_longer_frames_are_refused(tmp_path: Path, why_no_xdp: str | None) -> None:
    with bed(tmp_path, why_no_xdp) as engine:
        error = refusal(engine, PORTS[0], max_frame_bytes=3393)
        assert error["where"] == "ports[0]"
        assert error["message"] == (
            "driver net_af_xdp takes no frames of 3393 bytes: at most 3392 without FCS"
        )


def test_the_interface_is_given_back(tmp_path: Path, why_no_xdp: str | None) -> None:
    if why_no_xdp:
        pytest.skip(why_no_xdp)
    with engine_next_to_a_bridge(tmp_path) as (engine, place):
        open_ports(engine, *PORTS)
        assert has_program(place)
        engine.finish()
        assert not has_program(place)


def has_program(place: Network) -> bool:
    return "prog/xdp" in place.run("ip", "link", "show", NEAR[0])
