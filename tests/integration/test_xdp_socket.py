"""Whether AF_XDP can be had is found out by binding a socket, and the reason is reported."""

import os
import sys

import pytest

from plimsoll.host.ports.xdp_socket import why_no_xdp_socket
from tests.integration.network import network

ASK = """
import sys
from plimsoll.host.ports.xdp_socket import why_no_xdp_socket
print(why_no_xdp_socket(sys.argv[1], int(sys.argv[2])))
"""
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")


@pytest.mark.parametrize(
    ("queue", "as_user", "reason"),
    [
        (0, (), "None"),
        (9, (), "the kernel refuses the queue"),
        (0, NOBODY, "CAP_NET_RAW is missing"),
    ],
)
def test_a_queue_of_an_interface(
    why_no_xdp: str | None, queue: int, as_user: tuple[str, ...], reason: str
) -> None:
    if why_no_xdp or os.getuid() != 0:
        pytest.skip(why_no_xdp or "only root may become nobody")
    with network() as place:
        place.veth("pl-a", "pl-b")
        said = place.run(*as_user, sys.executable, "-c", ASK, "pl-a", str(queue))
        # It can be tried again: nothing stays bound.
        again = place.run(*as_user, sys.executable, "-c", ASK, "pl-a", str(queue))
    assert said.strip() == again.strip() == reason


def test_an_interface_that_is_not_there() -> None:
    assert why_no_xdp_socket("pl-nowhere") == "no interface with this name"
