"""Annotations and extra fields of an intent. Merging: RFC 7396, whose own examples these are."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import InputError
from plimsoll.tune.cluster.reference import reference
from plimsoll.tune.intent.fields.extra import merged
from plimsoll.tune.render.render import render
from tests.unit.tune.cluster.clusters import cluster, intent
from tests.unit.tune.cluster.test_cluster_audit import judged
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.unit.tune.render.rendering import documents, rendered

PROFILE = "1-node/20-performance-profile.yaml"


# RFC 7396, appendix A.
@pytest.mark.parametrize(
    ("given", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ],
)
def test_merging(given: Any, patch: Any, expected: Any) -> None:
    before = repr(given)
    assert merged(given, patch) == expected
    assert repr(given) == before


EXTRA = [
    {
        "kind": "PerformanceProfile",
        "patch": {
            "metadata": {"labels": {"site": "lab"}},
            "spec": {"net": {"userLevelNetworking": True}, "realTimeKernel": None},
        },
    }
]


def test_fields_are_merged_last_into_the_object() -> None:
    wave = {"PerformanceProfile": {"ran.openshift.io/ztp-deploy-wave": "10"}}
    given = intent_with(POOL, annotations=wave, extra=EXTRA)
    profile = documents(given)[PROFILE]
    assert profile["metadata"]["annotations"] == {"ran.openshift.io/ztp-deploy-wave": "10"}
    assert profile["metadata"]["labels"] == {"site": "lab"}
    assert profile["spec"] == {
        "cpu": {"isolated": "1-3", "reserved": "0"},
        "net": {"userLevelNetworking": True},
        "nodeSelector": {"node-role.kubernetes.io/worker-cnf": ""},
    }


def test_the_readme_names_them() -> None:
    files = rendered(intent_with(POOL, extra=EXTRA))
    paths = "`metadata.labels.site`, `spec.net.userLevelNetworking`, `spec.realTimeKernel`"
    assert f"With the intent's `extra`: {paths}." in files[PROFILE].does
    readme = files["README.md"].text
    assert paths in readme
    assert "**each PerformanceProfile has fields of the intent's extra" in readme
    assert "they are not checked" in readme


def test_they_may_be_for_one_object_of_several() -> None:
    card = {"num_vfs": 2, "resource_name": "r"}
    nics = [card | {"name": name, "pf_names": [name]} for name in ("east", "west")]
    patch = {"spec": {"eSwitchMode": "switchdev"}}
    extra = [{"kind": "SriovNetworkNodePolicy", "name": "west", "patch": patch}]
    found = documents(intent_with(POOL, nics=nics, extra=extra))
    specs = [found[f"2-network/50-sriov-policy-{name}.yaml"]["spec"] for name in ("east", "west")]
    assert [each.get("eSwitchMode") for each in specs] == [None, "switchdev"]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"extra": [{"kind": "SriovNetwork", "patch": {"spec": {"a": 1}}}]},
            "extra[0].kind: no SriovNetwork is rendered",
        ),
        (
            {"extra": [{"kind": "PerformanceProfile", "name": "x", "patch": {"spec": {"a": 1}}}]},
            "extra[0].name: no PerformanceProfile is x",
        ),
        ({"annotations": {"Tuned": {"a": "b"}}}, "annotations.Tuned: no Tuned is rendered"),
    ],
)
def test_what_is_for_nothing_is_refused(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        render(intent_with(POOL, **sections))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"kind": "Pod"}, "extra[0].patch.kind: is not to be changed"),
        ({"metadata": {"name": "x"}}, "extra[0].patch.metadata.name: is not to be changed"),
        ({"metadata": None}, "extra[0].patch.metadata: found None (write its fields)"),
        ({"spec": 5}, "extra[0].patch.spec: found 5 (write its fields)"),
        ({"status": {"a": 1}}, "extra[0].patch.status: is not to be changed"),
        ({}, "write fields and their values"),
        ({"spec": {"a": [0] * 3000}}, "has more than 2000 values"),
        ({"spec": {"a": "\x1b[2J"}}, "leave out control characters"),
    ],
)
def test_what_is_no_patch_of_an_object_is_refused(patch: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        intent_with(POOL, extra=[{"kind": "PerformanceProfile", "patch": patch}])
    assert message in str(caught.value)


def test_a_patch_has_an_end() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep}
    with pytest.raises(InputError, match="goes deeper than 16 fields"):
        intent_with(POOL, extra=[{"kind": "PerformanceProfile", "patch": deep}])


def test_hosts_have_no_objects() -> None:
    with pytest.raises(InputError, match="extra: is rendered for OpenShift alone"):
        intent_with(HOST, extra=EXTRA)


def test_the_audit_judges_them_as_given() -> None:
    extra = [{"kind": "PerformanceProfile", "patch": {"spec": {"more": {"of": ["it"]}}}}]
    given = intent(extra=extra, annotations={"SriovNetwork": {"site": "lab"}})
    finding = judged("performance-profile", cluster(), given)
    assert finding.verdict == "fail"
    assert "spec.more" in finding.text
    view = cluster(("PerformanceProfile", "spec/more", {"of": ["it"]}))
    assert judged("performance-profile", view, given).verdict == "ok"
    assert "site" in judged("networks", view, given).text


def test_the_audit_compares_what_means_nothing_as_it_is_written() -> None:
    extra = [{"kind": "PerformanceProfile", "patch": {"spec": {"cpu": {"isolated": "many"}}}}]
    given = intent(extra=extra)
    assert judged("performance-profile", cluster(), given).verdict == "fail"
    view = cluster(("PerformanceProfile", "spec/cpu/isolated", "many"))
    assert judged("performance-profile", view, given).verdict == "ok"


def test_a_reference_for_kube_compare_has_them() -> None:
    containers = [{"name": "a"}, {"name": "b"}]
    extra = [{"kind": "Pod", "patch": {"spec": {"hostname": "x", "containers": containers}}}]
    (pod,) = [each for each in reference(intent(extra=extra)) if each.path.startswith("pods-")]
    assert yaml.safe_load(pod.text)["spec"]["containers"] == containers
    assert yaml.safe_load(pod.text)["spec"]["hostname"] == "x"
