"""Annotations and extra fields of an intent. Merging: RFC 7396, whose own examples these are."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import InputError
from plimsoll.tune.cluster.reference import reference
from plimsoll.tune.intent.fields.section import merged
from plimsoll.tune.render.render import render
from tests.unit.tune.cluster.clusters import cluster, intent
from tests.unit.tune.cluster.test_cluster_audit import judged
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.unit.tune.render.rendering import documents, rendered
from tests.worded.says import Says, passage

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


def test_the_readme_names_them(says: Says) -> None:
    files = rendered(intent_with(POOL, extra=EXTRA))
    paths = "`metadata.labels.site`, `spec.net.userLevelNetworking`, `spec.realTimeKernel`"
    assert files[PROFILE].does == says("extra", str(paths))
    readme = files["README.md"].text
    assert paths in readme
    assert passage(readme, "**each", "PerformanceProfile") == says("**each", "PerformanceProfile")


def test_they_may_be_for_one_object_of_several() -> None:
    card = {"num_vfs": 2, "resource_name": "r"}
    nics = [card | {"name": name, "pf_names": [name]} for name in ("east", "west")]
    patch = {"spec": {"eSwitchMode": "switchdev"}}
    extra = [{"kind": "SriovNetworkNodePolicy", "name": "west", "patch": patch}]
    found = documents(intent_with(POOL, nics=nics, extra=extra))
    specs = [found[f"2-network/50-sriov-policy-{name}.yaml"]["spec"] for name in ("east", "west")]
    assert [each.get("eSwitchMode") for each in specs] == [None, "switchdev"]


@pytest.mark.parametrize(
    ("sections", "facts"),
    [
        (
            {"extra": [{"kind": "SriovNetwork", "patch": {"spec": {"a": 1}}}]},
            ("extra[0].kind", "SriovNetwork"),
        ),
        (
            {"extra": [{"kind": "PerformanceProfile", "name": "x", "patch": {"spec": {"a": 1}}}]},
            ("extra[0].name", "PerformanceProfile"),
        ),
        ({"annotations": {"Tuned": {"a": "b"}}}, ("annotations.Tuned",)),
    ],
)
def test_what_is_for_nothing_is_refused(
    sections: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        render(intent_with(POOL, **sections))
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    ("patch", "facts"),
    [
        ({"kind": "Pod"}, ("extra[0].patch.kind",)),
        ({"metadata": {"name": "x"}}, ("extra[0].patch.metadata.name",)),
        ({"metadata": None}, ("extra[0].patch.metadata",)),
        ({"spec": 5}, ("extra[0].patch.spec", "5")),
        ({"status": {"a": 1}}, ("extra[0].patch.status",)),
        ({}, ("extra[0].patch",)),
        ({"spec": {"a": [0] * 3000}}, ("2000",)),
        ({"spec": {"a": "\x1b[2J"}}, ("\\x1b[2J", "extra[0].patch")),
    ],
)
def test_what_is_no_patch_of_an_object_is_refused(
    patch: Any, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        intent_with(POOL, extra=[{"kind": "PerformanceProfile", "patch": patch}])
    assert caught.value == says(*facts)


def test_a_patch_has_an_end(says: Says) -> None:
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep}
    with pytest.raises(InputError) as caught:
        intent_with(POOL, extra=[{"kind": "PerformanceProfile", "patch": deep}])
    assert caught.value == says("16")


def test_hosts_have_no_objects(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        intent_with(HOST, extra=EXTRA)
    assert caught.value == says("OpenShift")


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
