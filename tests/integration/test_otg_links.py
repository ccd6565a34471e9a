"""Links by an unmodified snappi client: on TAP over a Linux bridge, and where there are none."""

import os
import sys
from typing import Any

import pytest
import snappi

from tests.integration.command import Workplace
from tests.integration.network import network
from tests.integration.otg_failover import INTERFACES, set_link
from tests.integration.otg_server import otg_server
from tests.integration.test_otg import locations

pytestmark = pytest.mark.usefixtures("live_in_turn")

__all__ = ["locations"]

NAMES = tuple(INTERFACES.values())


@pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun cannot be opened"
)
def test_links_of_taps_go_down_and_come_back_while_flows_are_sent(place: Workplace) -> None:
    taps = [{"devargs": f"net_tap{n},iface={name}"} for n, name in enumerate(NAMES)]
    experiment = place.experiment(lab={"kind": "external", "ports": taps})
    with network() as bed, otg_server(place, experiment, bed.enter) as (rest, calls):
        bed.silence(*NAMES)
        bed.bridge("pl-br", *NAMES)
        script = (sys.executable, "-m", "tests.integration.otg_failover")
        bed.run(*script, rest)
        bed.run(*script, calls, "grpc")


def test_a_driver_without_links_is_refused_with_the_path(locations: tuple[str, str]) -> None:
    clients: list[Any] = [
        snappi.api(location=locations[0]),
        snappi.api(location=locations[1], transport="grpc"),
    ]
    for api in clients:
        config = api.config()
        config.ports.port(name="p1", location="0").port(name="p2", location="1")
        api.set_config(config)
        with pytest.raises(Exception, match="net_memif") as caught:
            set_link(api, "down", "p2")
        error = api.from_exception(caught.value)
        assert error.kind == "validation"
        (text,) = error.errors
        assert text.startswith("port.link.port_names[0]: p2: driver net_memif cannot take links")
        assert text.endswith("or use a port whose driver can, such as net_tap")
