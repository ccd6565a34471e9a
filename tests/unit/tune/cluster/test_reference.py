"""The reference for kube-compare. Format: docs/reference-config-guide-v2.md of
openshift/kube-compare; how the real tool takes it is said in docs/tuning-cluster.md."""

import json
import re

import pytest
import yaml

from plimsoll.errors import InputError
from plimsoll.tune.cluster.reference import reference
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.cluster.clusters import intent
from tests.worded.says import Says


def files(**sections: object) -> dict[str, str]:
    return {each.path: each.text for each in reference(intent(**sections))}


def test_metadata_lists_every_template_once() -> None:
    made = files()
    metadata = yaml.safe_load(made["metadata.yaml"])
    assert metadata["apiVersion"] == "v2"
    (part,) = metadata["parts"]
    assert part["name"] == "fast"
    listed = {
        component["name"]: next(
            (kind, [each["path"] for each in component[kind]])
            for kind in ("allOf", "anyOf")
            if kind in component
        )
        for component in part["components"]
    }
    assert listed == {
        "node": (
            "allOf",
            [
                "machineconfigpools-dataplane.yaml",
                "performanceprofiles-fast.yaml",
                "tuneds-performance-patch.yaml",
            ],
        ),
        "cluster": (
            "allOf",
            [
                "configmaps-cluster-monitoring-config.yaml",
                "networks-cluster.yaml",
                "consoles-cluster.yaml",
            ],
        ),
        "network": (
            "allOf",
            ["sriovnetworknodepolicies-east.yaml", "sriovnetworks-east-net.yaml"],
        ),
        "rights": (
            "allOf",
            [
                "namespaces-cnf.yaml",
                "serviceaccounts-cnf-dataplane.yaml",
                "securitycontextconstraints-cnf-dataplane.yaml",
                "roles-cnf-use-dataplane-constraint.yaml",
                "rolebindings-cnf-use-dataplane-constraint.yaml",
            ],
        ),
        "workload": ("anyOf", ["pods-testpmd.yaml"]),
    }
    paths = {path for _, listing in listed.values() for path in listing}
    assert paths | {"metadata.yaml"} == set(made)


def test_fields_that_the_intent_leaves_open_are_ignored() -> None:
    metadata = yaml.safe_load(files()["metadata.yaml"])
    templates = [
        each
        for component in metadata["parts"][0]["components"]
        for each in component.get("allOf", component.get("anyOf"))
    ]
    assert all(each["config"] == {"ignore-unspecified-fields": True} for each in templates)


def test_a_template_is_the_object_with_what_the_intent_says() -> None:
    made = files()
    assert yaml.safe_load(made["performanceprofiles-fast.yaml"]) == {
        "apiVersion": "performance.openshift.io/v2",
        "kind": "PerformanceProfile",
        "metadata": {"name": "fast"},
        "spec": {
            "additionalKernelArgs": ["audit=0"],
            "cpu": {"isolated": "2-7", "reserved": "0,1"},
            "hugepages": {
                "defaultHugepagesSize": "1G",
                "pages": [{"count": 4, "size": "1G"}],
            },
            "nodeSelector": {"node-role.kubernetes.io/dataplane": ""},
            "numa": {"topologyPolicy": "single-numa-node"},
            "realTimeKernel": {"enabled": False},
            "workloadHints": {"highPowerConsumption": True},
        },
    }
    console = yaml.safe_load(made["consoles-cluster.yaml"])
    assert console["metadata"] == {"name": "cluster"}
    assert console["spec"] == {"managementState": "Removed"}


def test_what_lets_the_pods_in_is_requested_for_and_what_only_warns_is_not() -> None:
    made = files()
    labels = yaml.safe_load(made["namespaces-cnf.yaml"])["metadata"]["labels"]
    assert labels == {"pod-security.kubernetes.io/enforce": "privileged"}
    constraint = yaml.safe_load(made["securitycontextconstraints-cnf-dataplane.yaml"])
    assert constraint["allowedCapabilities"] == ["IPC_LOCK"]
    assert "priority" not in constraint


def test_text_within_a_field_is_compared_by_its_meaning() -> None:
    template = files()["configmaps-cluster-monitoring-config.yaml"]
    (quoted,) = re.findall(r'\$expected := ("(?:[^"\\]|\\.)*")', template)
    assert yaml.safe_load(json.loads(quoted)) == {"alertmanagerMain": {"enabled": False}}
    assert "mergeOverwrite (deepCopy $found) (fromYaml $expected)" in template


def test_a_pod_without_an_image_is_not_requested_for_one() -> None:
    template = files()["pods-testpmd.yaml"]
    assert "image" not in template
    assert "runtimeClassName: performance-fast" in template


def test_braces_of_the_intent_are_no_templates() -> None:
    bootloader = {"arguments": ["a={{fail}}"], "tuned_bootloader": {"cmdline_x": "{{ .spec }}"}}
    made = files(kernel=bootloader)
    assert 'a={{ "{{" }}fail}}' in made["performanceprofiles-fast.yaml"]
    assert 'cmdline_x={{ "{{" }} .spec }}' in made["tuneds-performance-patch.yaml"]


def test_the_same_intent_makes_the_same_bytes() -> None:
    assert files() == files()


@pytest.mark.parametrize(
    "preset", ["openshift-deterministic", "openshift-sno-vdu", "telco-core-rds"]
)
def test_presets_make_templates_that_are_yaml_without_their_actions(preset: str) -> None:
    for each in reference(load_preset(preset)):
        plain = re.sub(r"(?m)^ *(?:- )?\{\{.*\}\}\n|\{\{.*\}\}", "", each.text)
        assert yaml.safe_load(plain)["apiVersion"], each.path


@pytest.mark.parametrize("preset", ["bare-metal", "vm"])
def test_other_platforms_have_no_objects(preset: str, says: Says) -> None:
    with pytest.raises(InputError) as refused:
        reference(load_preset(preset))
    assert refused.value == says()
