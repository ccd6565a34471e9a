"""What is rendered, and may yet be a mistake."""

from typing import Any

import pytest

from plimsoll.tune.render.render_warning import warnings_of
from tests.unit.tune.intent_documents import HOST, POOL, intent_with

# 3 CPUs are isolated, 4 GiB in pages of 1G set aside, and a node has 2 VFs.
PAGES = {"default_size": "1G", "pages": [{"size": "1G", "count": 4}]}
CARD = {"name": "card", "pf_names": ["ens1"], "num_vfs": 2, "resource_name": "card"}
FAST = {"kind": "sriov", "name": "fast", "nic": "card"}
POD = {"cpus": 1, "memory": "1Gi"}


def warnings(*pods: dict[str, Any], base: dict[str, Any] = POOL, **sections: Any) -> list[str]:
    given = [POD | {"name": f"p{n}"} | pod for n, pod in enumerate(pods)]
    sections = {"hugepages": PAGES, "nics": [CARD], "networks": [FAST]} | sections
    return [each.text for each in warnings_of(intent_with(base, pods=given, **sections))]


def test_what_fits_is_not_warned() -> None:
    half = {"hugepages": {"size": "1G", "total": "2Gi"}, "networks": ["fast"]}
    assert warnings(half, half | {"cpus": 2}) == []


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        ({"cpus": 2}, "4 CPUs, and one node has 3 isolated"),
        (
            {"hugepages": {"size": "1G", "total": "3Gi"}},
            "6Gi in pages of 1G, and one node has 4Gi",
        ),
        ({"networks": ["fast", "fast"]}, "4 VFs of openshift.io/card, and one node has 2"),
    ],
)
def test_pods_that_do_not_fit_together(pod: dict[str, Any], message: str) -> None:
    """Each fits alone: a generator and its DUT are often on two nodes."""
    assert warnings(pod, pod) == [f"all pods together ask for {message}."]
    assert warnings(pod) == []


def test_all_isolated_cpus() -> None:
    assert warnings({"cpus": 3}) == [
        "pod p0 asks for every isolated CPU (3), of which the platform's own pods on each node "
        "request a part."
    ]
    (partitioned,) = warnings({"cpus": 3}, cluster={"workload_partitioning": True})
    assert "every isolated CPU" not in partitioned
    assert warnings({"cpus": 3}, base=HOST) == []


def test_pages_of_the_kernels_own_arguments_are_not_counted() -> None:
    pod = {"hugepages": {"size": "1G", "total": "3Gi"}}
    assert warnings(pod, pod, kernel={"arguments": ["hugepagesz=1G", "hugepages=64"]}) == []


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"cluster": {"workload_partitioning": True}}, "cannot be taken back on a running one"),
        (
            {"cluster": {"reduced_monitoring": {"prometheus_retention": "24h"}}},
            "takes the place of one that the cluster may have already",
        ),
        # Not in 20-performance-profile.crd.yaml of the operator's release-4.17, in 4.18's it is.
        ({"kernel": {"page_size": "4k"}}, "known to OpenShift 4.18 and later"),
    ],
)
def test_what_is_for_good_or_refused_by_some(sections: dict[str, Any], message: str) -> None:
    (warning,) = warnings(**sections)
    assert message in warning


def test_ports_that_are_not_divided() -> None:
    whole = {"name": "whole", "pf_names": ["ens2"]}
    assert warnings(nics=[CARD, whole]) == [
        "nic whole has no num_vfs, and the SR-IOV operator hands out VFs alone: nothing is "
        "rendered for it."
    ]
    assert warnings(nics=[CARD, whole], base=HOST) == []


def test_a_resource_that_no_nic_gives() -> None:
    requested = {
        "resources": {"openshift.io/card": 1, "openshift.io/west": 1, "example.com/fpga": 1}
    }
    assert warnings(requested) == [
        "pod p0 asks for openshift.io/west, which no nic of the intent gives."
    ]
    whole = {"name": "card", "pf_names": ["ens1"], "resource_name": "card"}
    message = warnings({"resources": {"openshift.io/card": 1}}, nics=[whole], networks=[])
    assert message[1:] == ["pod p0 asks for openshift.io/card, which no nic of the intent gives."]
