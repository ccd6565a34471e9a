"""The networks that streams may cross between two nodes, which one cable joins.

Each node is a network namespace, and its end of the cable is its NIC. A client lies on the one
node, its server on the other, so that every stream crosses the cable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.churn.streams.iperf3 import FIRST_PORT
from plimsoll.churn.streams.ovn import Ovn
from plimsoll.churn.streams.pod import NetworkPod, NetworkPods
from plimsoll.host.ledger.ledger import Ledger

NIC = "nic0"
_NODE_ADDRESSES = ("192.168.100.1", "192.168.100.2")


class _NetworkModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HostNetwork(_NetworkModel):
    """The nodes' own addresses, on their NICs: what a pod with hostNetwork has."""

    kind: Literal["host"]


class MacvlanNetwork(_NetworkModel):
    """A macvlan interface of the node's NIC in each pod, in bridge mode."""

    kind: Literal["macvlan"]


class OvnNetwork(_NetworkModel):
    """A logical switch of OVN, Geneve between the nodes, over Open vSwitch's userspace datapath."""

    kind: Literal["ovn"]


LocalNetwork = HostNetwork | MacvlanNetwork | OvnNetwork


@dataclass(frozen=True, slots=True)
class PodPair:
    """A client and a server, and where the client finds the server."""

    number: int
    client: NetworkPod
    server: NetworkPod
    address: str
    port: int


@dataclass(frozen=True)
class Fabric:
    """A network that is up: its pairs, and what of it can die."""

    pairs: tuple[PodPair, ...]
    ovn: Ovn | None = None

    def check(self) -> None:
        """Raise MachineError where a part of the network has died."""
        if self.ovn is not None:
            self.ovn.check()


@contextmanager
def network(settings: LocalNetwork, pairs: int, ledger: Ledger) -> Iterator[Fabric]:
    """Bring a network up with so many pairs of pods, and take it down. Raises MachineError."""
    pods = NetworkPods(ledger)
    ovn: Ovn | None = None
    try:
        nodes = (pods.make("node-1"), pods.make("node-2"))
        _join(*nodes)
        match settings:
            case HostNetwork():
                _give_addresses(nodes, NIC)
                yield Fabric(tuple(_host_pairs(nodes, pairs)))
            case MacvlanNetwork():
                yield Fabric(tuple(_macvlan_pairs(pods, nodes, pairs)))
            case OvnNetwork():
                ovn = Ovn(ledger, nodes, NIC, _NODE_ADDRESSES)
                ovn.start()
                yield Fabric(tuple(_ovn_pairs(pods, nodes, pairs, ovn)), ovn)
    finally:
        if ovn is not None:
            ovn.stop()
        pods.end()


def _join(one: NetworkPod, other: NetworkPod) -> None:
    """The cable between two nodes."""
    one.ip(
        f"link add {NIC} type veth peer name {NIC} netns {other.pid}",
        f"link set {NIC} up",
    )
    other.ip(f"link set {NIC} up")


def _give_addresses(nodes: tuple[NetworkPod, NetworkPod], interface: str) -> None:
    for node, address in zip(nodes, _NODE_ADDRESSES, strict=True):
        node.ip(f"address add {address}/24 dev {interface}")


def _host_pairs(nodes: tuple[NetworkPod, NetworkPod], pairs: int) -> Iterator[PodPair]:
    for number in range(1, pairs + 1):
        yield PodPair(number, *nodes, _NODE_ADDRESSES[1], FIRST_PORT + number)


def _macvlan_pairs(
    pods: NetworkPods, nodes: tuple[NetworkPod, NetworkPod], pairs: int
) -> Iterator[PodPair]:
    for number in range(1, pairs + 1):
        made = (pods.make(f"client-{number}"), pods.make(f"server-{number}"))
        for side, (node, pod) in enumerate(zip(nodes, made, strict=True), start=1):
            kind = "type macvlan mode bridge"
            node.ip(f"link add link {NIC} name eth0 netns {pod.pid} {kind}")
            pod.ip(f"address add {_address(side, number)}/16 dev eth0", "link set eth0 up")
        yield PodPair(number, *made, _address(2, number), FIRST_PORT)


def _ovn_pairs(
    pods: NetworkPods, nodes: tuple[NetworkPod, NetworkPod], pairs: int, ovn: Ovn
) -> Iterator[PodPair]:
    for number in range(1, pairs + 1):
        made = (pods.make(f"client-{number}"), pods.make(f"server-{number}"))
        for side, (node, pod) in enumerate(zip(nodes, made, strict=True), start=1):
            ovn.attach(node, pod, side, number, _address(side, number))
        yield PodPair(number, *made, _address(2, number), FIRST_PORT)
    ovn.wait_until_bound()


def _address(side: int, number: int) -> str:
    return f"10.77.{side}.{number}"
