"""TAP: kernel interfaces that the engine makes itself, here joined by a Linux bridge."""

import os
from pathlib import Path

import pytest

from tests.integration.engine.port_bed import assert_carries, open_ports
from tests.integration.engine.session import EngineSession
from tests.integration.network import network

NAMES = ("pl-t0", "pl-t1")

pytestmark = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun cannot be opened"
)


@pytest.mark.parametrize("queues", [1, 2])
def test_frames_pass_a_bridge_and_come_back(tmp_path: Path, queues: int) -> None:
    devargs = [f"net_tap{port},iface={name}" for port, name in enumerate(NAMES)]
    with network() as place, EngineSession(tmp_path, within=place.enter) as engine:
        ports = open_ports(engine, *devargs, queues=queues)
        assert [port["driver"] for port in ports] == ["net_tap", "net_tap"]
        place.silence(*NAMES)
        place.bridge("pl-br", *NAMES)
        # The kernel chooses a queue by flow; a flow keeps to its own.
        for length in (60, 1514):
            assert_carries(engine, queues=queues, length=length, fanned_out=queues > 1)
        engine.finish()
        assert NAMES[0] not in place.run("ip", "link")
