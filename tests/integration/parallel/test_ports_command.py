"""`plimsoll ports` on a machine whose interfaces are known: those of a namespace."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.integration.network import Network, network

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")


def listed(place: Network, *prefix: str) -> dict[str, Any]:
    """What `plimsoll ports --json` says of each interface."""
    text = place.run(*prefix, sys.executable, "-m", "plimsoll.cli", "ports", "--json")
    return {port["name"]: port for port in json.loads(text)}


def test_interfaces_are_listed_as_the_kernel_has_them() -> None:
    with network() as place:
        place.veth("pl-a", "pl-b", queues=2, mtu=3000)
        place.veth("pl-c", "pl-d")
        place.bridge("pl-br", "pl-d")
        place.run("ip", "link", "set", "pl-c", "down")
        place.run("ip", "route", "add", "default", "dev", "pl-br")
        ports = listed(place)
        macs = {
            link["ifname"]: link["address"] for link in json.loads(place.run("ip", "-j", "link"))
        }
    veth = ports["pl-a"]
    assert (veth["kind"], veth["driver"], veth["pci_address"]) == ("veth", "veth", None)
    assert (veth["link"], veth["rx_queues"], veth["tx_queues"]) == ("up", 2, 2)
    assert veth["mac"] == macs["pl-a"]
    assert veth["stamps"] == {"rx_all": False, "rx_some": False, "tx": False, "phc": None}
    assert (veth["in_use"], veth["pci_needs"]) == (None, None)
    assert ports["pl-c"]["link"] == "down"
    assert "it is down: ip link set pl-c up" in ports["pl-c"]["netdev_needs"]
    assert ports["pl-d"]["link"] == "no carrier"
    assert ports["pl-br"]["kind"] == "bridge"
    assert ports["pl-br"]["in_use"] == "it carries the default route"
    assert ports["pl-d"]["in_use"] == "pl-br is built upon it, and it carries the default route"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become nobody")
def test_it_needs_no_root_and_says_what_does() -> None:
    with network() as place:
        place.veth("pl-a", "pl-b")
        ports = listed(place, *NOBODY)
    assert ports["pl-a"]["netdev_needs"] == ["root, or CAP_NET_RAW"]


def test_the_table_has_a_row_and_a_use_for_each() -> None:
    with network() as place:
        place.veth("pl-a", "pl-b")
        text = place.run(sys.executable, "-m", "plimsoll.cli", "ports")
    lines = text.splitlines()
    assert lines[0].split()[:5] == ["port", "PCI", "kind", "driver", "NUMA"]
    (row,) = (line for line in lines if line.startswith("pl-a"))
    assert row.split()[2:5] == ["veth", "veth", "-"]
    assert any(line.startswith("netdev: pl-a") for line in lines)


def test_this_machine_can_be_listed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll.cli", "ports", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = {port["name"] for port in json.loads(done.stdout)}
    assert "lo" not in names
