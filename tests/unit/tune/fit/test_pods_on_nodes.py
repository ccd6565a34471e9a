"""Pods that a host, or no NUMA node of it, has room for; expectations are by hand."""

from typing import Any

import pytest

from plimsoll.tune.fit.pods_on_nodes import pods_on_nodes
from plimsoll.tune.fit.topology import Topology
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.worded.says import Says

# Two nodes of eight CPUs; 0-1 and 8-9 are reserved, so that each node has six isolated.
CPUS = {"reserved": "0-1,8-9", "isolated": "2-7,10-15"}
SIXTEEN = {"default_size": "1G", "pages": [{"size": "1G", "count": 16}]}
POD = {"name": "dut", "cpus": 2, "memory": "1Gi"}


def host(gib: int = 64, **ports: int | None) -> Topology:
    return Topology(
        online=frozenset(range(16)),
        siblings={cpu: frozenset({cpu}) for cpu in range(16)},
        nodes={0: frozenset(range(8)), 1: frozenset(range(8, 16))},
        memory_kb={0: gib * 2**20, 1: gib * 2**20} if gib else {},
        port_nodes=ports,
    )


def intent(pod: dict[str, Any], **sections: Any) -> Intent:
    sections = {"numa_policy": "single-numa-node", "hugepages": SIXTEEN} | sections
    return intent_with(POOL, cpus=CPUS, pods=[POD | pod], **sections)


def message(expected: Intent, topology: Topology) -> list[tuple[str, str, str]]:
    found = list(pods_on_nodes(expected, topology))
    assert all(each.severity == "fail" for each in found)
    return [(each.field, each.text, each.remedy) for each in found]


def pages(total: str) -> dict[str, Any]:
    return {"hugepages": {"size": "1G", "total": total}}


def test_cpus_of_one_node(says: Says) -> None:
    assert message(intent({"cpus": 6}), host()) == []
    assert message(intent({"cpus": 7}), host()) == [
        (
            "pods[0].cpus",
            says("7", "6"),
            says("6", "numa_policy"),
        )
    ]


@pytest.mark.parametrize(
    ("pod", "sections"),
    [
        ({}, {"numa_policy": "restricted"}),
        ({"qos": "burstable"}, {}),
    ],
)
def test_cpus_of_two_nodes_where_that_is_no_mistake(
    pod: dict[str, Any], sections: dict[str, Any]
) -> None:
    assert message(intent({"cpus": 12} | pod, **sections), host()) == []


def test_pages_that_the_kernel_spreads(says: Says) -> None:
    """16 pages over two nodes are eight on each."""
    assert message(intent(pages("8Gi")), host()) == []
    assert message(intent(pages("9Gi")), host()) == [
        (
            "pods[0].hugepages.total",
            says("9Gi", "8Gi", "single-numa-node"),
            says("8Gi"),
        )
    ]


@pytest.mark.parametrize("gib", [0, 6])
def test_pages_are_not_judged_where_their_nodes_are_not_known(gib: int) -> None:
    """Without the nodes' memory, or where a node cannot hold its share and others get more."""
    assert message(intent(pages("9Gi") | {"memory": "1Ki"}), host(gib)) == []


def test_the_spread_is_not_judged_where_other_pages_name_a_node() -> None:
    some = [{"size": "1G", "count": 8}, {"size": "1G", "count": 8, "node": 1}]
    mixed = {"default_size": "1G", "pages": some}
    assert message(intent(pages("9Gi"), hugepages=mixed), host()) == []


def nic(name: str, port: str) -> dict[str, Any]:
    return {"name": name, "pf_names": [port], "num_vfs": 1, "resource_name": name}


CARDS = {
    "nics": [nic("east", "ens1"), nic("west", "ens2")],
    "networks": [
        {"kind": "sriov", "name": "east-net", "nic": "east"},
        {"kind": "sriov", "name": "west-net", "nic": "west"},
    ],
}
BOTH = {"networks": ["east-net", "west-net"]}


def test_cards_of_different_nodes(says: Says) -> None:
    assert message(intent(BOTH, **CARDS), host(ens1=1, ens2=1)) == []
    assert message(intent(BOTH, **CARDS), host(ens1=0, ens2=1)) == [
        (
            "pods[0].networks",
            says("0", "1"),
            says("numa_policy"),
        )
    ]


@pytest.mark.parametrize("ports", [{"ens1": 0}, {"ens1": 0, "ens2": None}])
def test_a_card_that_does_not_tell_its_node_may_be_on_any(ports: dict[str, int | None]) -> None:
    assert message(intent(BOTH, **CARDS), host(**ports)) == []


def test_no_node_has_all_of_it(says: Says) -> None:
    """CPUs on both, pages on node 0 alone, the card on node 1."""
    near = {"default_size": "1G", "pages": [{"size": "1G", "count": 4, "node": 0}]}
    expected = intent(pages("2Gi") | {"networks": ["east-net"]}, hugepages=near, **CARDS)
    assert message(expected, host(ens1=0)) == []
    assert message(expected, host(ens1=1)) == [
        (
            "pods[0]",
            says("node", "0", "1"),
            says("pages"),
        )
    ]


def test_memory_that_the_host_has_not(says: Says) -> None:
    """Of 2 x 16 GiB 16 are hugepages."""
    assert message(intent({"memory": "16Gi"}), host(16)) == []
    assert message(intent({"memory": "17Gi"}), host(16)) == [
        (
            "pods[0].memory",
            says("17Gi", "16.0", "GiB", "32.0"),
            says(),
        )
    ]


def test_the_articles_pods_fit_the_articles_hosts() -> None:
    """40 CPUs of two sockets, and 32 of one, whose pages are all on the one node."""
    nodes = {0: frozenset(range(0, 40, 2)), 1: frozenset(range(1, 40, 2))}
    siblings = {cpu: frozenset({cpu}) for cpu in range(40)}
    memory = dict.fromkeys(nodes, 96 * 2**20)
    two = Topology(frozenset(range(40)), siblings, nodes, memory, {"ens7f0": 1, "ens7f1": 1})
    assert message(load_preset("openshift-deterministic"), two) == []
    threads = {cpu: frozenset({cpu, (cpu + 16) % 32}) for cpu in range(32)}
    one = Topology(frozenset(range(32)), threads, {0: frozenset(range(32))}, {0: 96 * 2**20})
    assert message(load_preset("openshift-sno-vdu"), one) == []
