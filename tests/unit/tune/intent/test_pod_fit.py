"""Pods that no node of the intent can run, whatever else is on it."""

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.hugepages import memory_text
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.worded.says import Says

# Six CPUs are isolated; 4 pages of 1G are set aside, 16 where a test says so.
CPUS = {"reserved": "0-1", "isolated": "2-7"}
FOUR = {"default_size": "1G", "pages": [{"size": "1G", "count": 4}]}
SIXTEEN = {"default_size": "1G", "pages": [{"size": "1G", "count": 16}]}
ON_NODES = {
    "default_size": "1G",
    "pages": [{"size": "1G", "count": 12, "node": 0}, {"size": "1G", "count": 4, "node": 1}],
}
CARD = {"name": "card", "pf_names": ["ens1", "ens2"], "num_vfs": 4, "resource_name": "card"}
FAST = {"kind": "sriov", "name": "fast", "nic": "card"}


def pages(size: str, total: str) -> dict[str, Any]:
    return {"hugepages": {"size": size, "total": total}}


def refusal(base: dict[str, Any], pod: dict[str, Any], **sections: Any) -> str:
    given = {"name": "dut", "cpus": 2, "memory": "1Gi"} | pod
    with pytest.raises(InputError) as caught:
        intent_with(base, cpus=CPUS, pods=[given], **sections)
    return f"{caught.value.message} / {caught.value.remedy}"


@pytest.mark.parametrize("base", [POOL, HOST])
def test_more_cpus_than_are_isolated(base: dict[str, Any], says: Says) -> None:
    assert refusal(base, {"cpus": 64}) == says("pods[0].cpus", "64", "CPUs", "6")
    assert "asks for 6.5 CPUs" in refusal(base, {"cpus": 6.5, "qos": "burstable"})


@pytest.mark.parametrize(
    ("expected", "hugepages", "facts"),
    [
        (
            pages("2M", "64Gi"),
            FOUR,
            ("pods[0].hugepages.size", "2M", "1G"),
        ),
        (
            pages("1G", "1Gi"),
            None,
            ("pods[0].hugepages.size", "1G"),
        ),
        (
            pages("1G", "64Gi"),
            SIXTEEN,
            ("pods[0].hugepages.total", "64Gi", "16Gi", "1Gi"),
        ),
        # 16 GiB are there, but never more than 12 on one node.
        (
            pages("1G", "13Gi"),
            ON_NODES,
            ("pods[0].hugepages.total", "13Gi", "12Gi", "1Gi"),
        ),
    ],
)
def test_pages_that_are_not_there(
    expected: dict[str, Any], hugepages: dict[str, Any] | None, facts: tuple[str, ...], says: Says
) -> None:
    sections = {"hugepages": hugepages} if hugepages else {}
    assert refusal(POOL, expected, numa_policy="single-numa-node", **sections) == says(*facts)


@pytest.mark.parametrize(
    ("pod", "policy"),
    [({}, "restricted"), ({"qos": "burstable"}, "single-numa-node"), ({}, None)],
)
def test_pages_of_several_nodes_where_that_is_no_mistake(
    pod: dict[str, Any], policy: str | None
) -> None:
    """The memory manager pins guaranteed pods alone, and to one node by that policy alone."""
    given = {"name": "dut", "cpus": 2, "memory": "1Gi"} | pages("1G", "13Gi") | pod
    sections = {"numa_policy": policy} if policy else {}
    intent = intent_with(POOL, cpus=CPUS, pods=[given], hugepages=ON_NODES, **sections)
    assert intent.pods[0].hugepages is not None


def test_pages_of_the_kernels_own_arguments_may_be_enough() -> None:
    given = {"name": "dut", "cpus": 2, "memory": "1Gi"} | pages("2M", "64Gi")
    kernel = {"arguments": ["hugepagesz=2M", "hugepages=32768"]}
    assert intent_with(POOL, cpus=CPUS, pods=[given], kernel=kernel).pods


def test_more_vfs_than_a_node_has(says: Says) -> None:
    """Two ports of VFs 0 and 1 are four, of which the pod takes five."""
    card = CARD | {"vf_range": "0-1"}
    sections = {"nics": [card], "networks": [FAST]}
    assert refusal(POOL, {"networks": ["fast"] * 5}, **sections) == says(
        "pods[0].networks", "5", "openshift.io/card", "4", "num_vfs", "vf_range"
    )
    requested = {"networks": ["fast"], "resources": {"openshift.io/card": 4}}
    assert refusal(POOL, requested, **sections) == says("pods[0].resources", "5")


def test_vfs_of_a_kind_of_card_are_not_counted() -> None:
    kind = {"name": "card", "vendor": "8086", "num_vfs": 1, "resource_name": "card"}
    given = {"name": "dut", "cpus": 2, "memory": "1Gi", "networks": ["fast", "fast"]}
    assert intent_with(POOL, cpus=CPUS, pods=[given], nics=[kind], networks=[FAST]).pods


@pytest.mark.parametrize(
    ("size", "text"),
    [(16 << 30, "16Gi"), (3 << 29, "1536Mi"), (1 << 40, "1Ti"), (4096, "4Ki"), (1000, "1000")],
)
def test_memory_is_reported_in_its_largest_unit(size: int, text: str) -> None:
    assert memory_text(size) == text
