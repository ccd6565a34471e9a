"""What is rendered, and may yet be a mistake."""

from typing import Any

import pytest

from plimsoll.tune.render.render_warning import warnings_of
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.worded.says import Says

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
    ("pod", "facts"),
    [
        ({"cpus": 2}, ("4", "3")),
        (
            {"hugepages": {"size": "1G", "total": "3Gi"}},
            ("6Gi", "1G", "4Gi"),
        ),
        ({"networks": ["fast", "fast"]}, ("4", "openshift.io/card", "2")),
    ],
)
def test_pods_that_do_not_fit_together(
    pod: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    """Each fits alone: a generator and its DUT are often on two nodes."""
    (warning,) = warnings(pod, pod)
    assert warning == says(*facts)
    assert warnings(pod) == []


def test_all_isolated_cpus(says: Says) -> None:
    assert warnings({"cpus": 3}) == [says("p0", "CPU", "3")]
    (partitioned,) = warnings({"cpus": 3}, cluster={"workload_partitioning": True})
    assert "every isolated CPU" not in partitioned
    assert warnings({"cpus": 3}, base=HOST) == []


def test_pages_of_the_kernels_own_arguments_are_not_counted() -> None:
    pod = {"hugepages": {"size": "1G", "total": "3Gi"}}
    assert warnings(pod, pod, kernel={"arguments": ["hugepagesz=1G", "hugepages=64"]}) == []


@pytest.mark.parametrize(
    ("sections", "facts"),
    [
        ({"cluster": {"workload_partitioning": True}}, ()),
        (
            {"cluster": {"reduced_monitoring": {"prometheus_retention": "24h"}}},
            ("cluster",),
        ),
        # Not in 20-performance-profile.crd.yaml of the operator's release-4.17, in 4.18's it is.
        ({"kernel": {"page_size": "4k"}}, ("OpenShift", "4.18")),
    ],
)
def test_what_is_for_good_or_refused_by_some(
    sections: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    (warning,) = warnings(**sections)
    assert warning == says(*facts)


def test_ports_that_are_not_divided(says: Says) -> None:
    whole = {"name": "whole", "pf_names": ["ens2"]}
    assert warnings(nics=[CARD, whole]) == [says("num_vfs")]
    assert warnings(nics=[CARD, whole], base=HOST) == []


def test_a_resource_that_no_nic_gives(says: Says) -> None:
    requested = {
        "resources": {"openshift.io/card": 1, "openshift.io/west": 1, "example.com/fpga": 1}
    }
    assert warnings(requested) == [says("p0", "openshift.io/west")]
    whole = {"name": "card", "pf_names": ["ens1"], "resource_name": "card"}
    message = warnings({"resources": {"openshift.io/card": 1}}, nics=[whole], networks=[])
    assert message[1:] == [says("p0", "openshift.io/card")]
