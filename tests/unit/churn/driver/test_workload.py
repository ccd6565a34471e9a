"""The objects of a namespace: those of the core RDS workload, as the article counts them."""

from collections import Counter

import pytest
from pydantic import ValidationError

from plimsoll.churn.driver.workload import (
    KIND_LABEL,
    RDS_CORE,
    RUN_LABEL,
    SMALL,
    ObjectSet,
    PodGroup,
    Workload,
    namespace_document,
    namespace_objects,
)
from tests.worded.says import Says

WHOLE = Workload("abc123", RDS_CORE, "pause", {"hugepages-1Gi": "16Gi"})


def test_the_core_rds_workload_has_its_objects() -> None:
    kinds = Counter(each.document["kind"] for each in namespace_objects(WHOLE, 0))
    assert kinds == {
        "Secret": 42,
        "ConfigMap": 30,
        "NetworkPolicy": 3,
        "SriovNetwork": 3,
        "Service": 21,
        "Route": 2,
        "Deployment": 27,
    }
    assert kinds.total() == RDS_CORE.objects == WHOLE.objects_made == 128


def test_it_has_its_pods_by_kind() -> None:
    pods: Counter[str] = Counter()
    for each in namespace_objects(WHOLE, 0):
        if each.document["kind"] == "Deployment":
            spec = each.document["spec"]
            pods[spec["template"]["metadata"]["labels"][KIND_LABEL]] += spec["replicas"]
    assert pods == {"server": 30, "client": 20, "dpdk": 2}
    assert RDS_CORE.pods == 52


def test_115_namespaces_come_to_the_article_s_numbers() -> None:
    # 5,750 burstable pods and 230 DPDK, 4,830 secrets, 3,450 configmaps, 345 policies.
    assert (115 * 50, 115 * RDS_CORE.dpdk.pods) == (5750, 230)
    assert 115 * (RDS_CORE.server.pods + RDS_CORE.client.pods) == 5750
    assert (115 * RDS_CORE.secrets, 115 * RDS_CORE.config_maps) == (4830, 3450)
    assert 115 * RDS_CORE.network_policies == 345


def test_every_object_is_labelled_and_lies_in_the_namespace() -> None:
    for each in (namespace_document(WHOLE, 7), *namespace_objects(WHOLE, 7)):
        metadata = each.document["metadata"]
        assert metadata["labels"][RUN_LABEL] == "abc123"
        if each.document["kind"] != "Namespace":
            assert metadata["namespace"] == "plimsoll-abc123-7"
            assert "/namespaces/plimsoll-abc123-7/" in each.path


def test_what_pods_mount_is_made_before_them() -> None:
    objects = list(namespace_objects(WHOLE, 0))
    made = [each.document["metadata"]["name"] for each in objects]
    for place, each in enumerate(objects):
        if each.document["kind"] == "Deployment":
            for volume in each.document["spec"]["template"]["spec"]["volumes"]:
                secret = volume.get("secret", {}).get("secretName")
                name = secret or volume["configMap"]["name"]
                assert made.index(name) < place


def test_dpdk_pods_are_guaranteed_and_have_the_further_resources() -> None:
    (first, *_) = [
        each.document["spec"]["template"]["spec"]["containers"][0]["resources"]
        for each in namespace_objects(WHOLE, 0)
        if each.document["metadata"]["name"].startswith("dpdk-")
    ]
    assert first["requests"] == first["limits"]
    assert first["requests"]["hugepages-1Gi"] == "16Gi"


def test_kinds_that_a_cluster_does_not_serve_are_left_out() -> None:
    missing = frozenset({"routes", "sriovnetworks"})
    plain = Workload("abc123", RDS_CORE, "pause", {}, missing)
    kinds = {each.document["kind"] for each in namespace_objects(plain, 0)}
    assert kinds.isdisjoint({"Route", "SriovNetwork"})
    assert plain.objects_made == 123 == len(list(namespace_objects(plain, 0)))


def test_names_are_of_one_object_each() -> None:
    objects = list(namespace_objects(WHOLE, 0))
    names = {(each.path, each.document["metadata"]["name"]) for each in objects}
    assert len(names) == len(objects)


def test_a_set_without_pods_is_refused(says: Says) -> None:
    nothing = PodGroup(deployments=0)
    with pytest.raises(ValidationError) as caught:
        ObjectSet(server=nothing, client=nothing, dpdk=nothing)
    assert caught.value == says()
    assert SMALL.pods == 7
