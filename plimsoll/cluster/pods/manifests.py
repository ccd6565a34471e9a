"""The objects of one run: a config map that owns the others, the run's pod, and its DUTs'.

The containers are those of `tune render` (plimsoll/tune/render/openshift/pod.py): guaranteed,
every capability dropped but what the cards take. To the run's pod a second container is added
that only keeps the volume of the record, so that it can be fetched after the run has ended.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.manifest import Manifest, manifest_of
from plimsoll.tune.render.openshift.pod import pod_manifest

MANAGED = {"app.kubernetes.io/managed-by": "plimsoll"}
RUN_LABEL = "plimsoll/run"
RUN_ANNOTATION = "plimsoll/run-id"
RUN_CONTAINER, RECORD_CONTAINER = "run", "record"
RECORD = "/var/lib/plimsoll"
_EXPERIMENT = "/etc/plimsoll"
_STATE = "/run/plimsoll"
# The images' user; of no rights anywhere.
_USER = 65532
# Python alone takes 40 MB, with what the container imports.
_RECORD_RESOURCES = {"cpu": "100m", "memory": "128Mi"}
# A run that no one fetches any more does not stay for ever.
_LONGEST_LIFE_S = 7 * 24 * 3600
_GRACE_S = 60
_MEMORY_VOLUMES = {"state": _STATE, "scratch": "/tmp"}  # noqa: S108 - a volume of the pod's own


def owner_manifest(name: str, run_id: str, experiment: str) -> Manifest:
    """The config map: the experiment as YAML, and what all else is deleted with."""
    return manifest_of(
        "v1",
        "ConfigMap",
        name,
        labels=_labels(name),
        annotations={RUN_ANNOTATION: run_id},
        data={"experiment.yaml": experiment},
    )


def run_pod(name: str, run_id: str, plan: PodPlan, owner: Mapping[str, Any]) -> Manifest:
    """The pod that runs; `owner` is the config map as the server has it."""
    manifest = _owned(pod_manifest(plan.intent, plan.generator), name, name, run_id, owner)
    spec = manifest["spec"]
    (runner,) = spec["containers"]
    runner["name"] = RUN_CONTAINER
    runner["command"] = [
        *("python3", "-m", "plimsoll.cluster.pods.inside"),
        *(f"{_EXPERIMENT}/experiment.yaml", RECORD, run_id),
    ]
    _confine(spec, runner, owner["metadata"]["name"])
    spec["containers"].append(_record_container(runner))
    return manifest


def dut_pods(name: str, run_id: str, plan: PodPlan, owner: Mapping[str, Any]) -> Iterator[Manifest]:
    """The pods of role `dut`, each with the command that the intent gives it."""
    for pod in plan.duts:
        yield _dut(name, run_id, plan, pod, owner)


def _dut(name: str, run_id: str, plan: PodPlan, pod: Pod, owner: Mapping[str, Any]) -> Manifest:
    return _owned(pod_manifest(plan.intent, pod), f"{name}-{pod.name}", name, run_id, owner)


def _owned(
    manifest: Manifest, name: str, run: str, run_id: str, owner: Mapping[str, Any]
) -> Manifest:
    """A copy under another name, in whatever namespace the run is, which goes with its owner."""
    manifest = copy.deepcopy(manifest)
    metadata = manifest["metadata"]
    metadata.pop("namespace", None)
    metadata["name"] = name
    metadata["labels"] = {**metadata.get("labels", {}), **_labels(run)}
    metadata["annotations"] = {**metadata.get("annotations", {}), RUN_ANNOTATION: run_id}
    metadata["ownerReferences"] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
    ]
    manifest["spec"]["activeDeadlineSeconds"] = _LONGEST_LIFE_S
    manifest["spec"]["terminationGracePeriodSeconds"] = _GRACE_S
    return manifest


def _confine(spec: dict[str, Any], runner: dict[str, Any], owner: str) -> None:
    """No more rights than the cards take, a root that cannot be written, volumes for the rest."""
    security = runner["securityContext"]
    if "runAsUser" not in security:
        security |= {"runAsUser": _USER, "runAsGroup": _USER, "runAsNonRoot": True}
    security["readOnlyRootFilesystem"] = True
    runner["env"] = [
        {"name": "PLIMSOLL_STATE", "value": f"{_STATE}/state"},
        {"name": "HOME", "value": _MEMORY_VOLUMES["scratch"]},
    ]
    mounts = {"experiment": _EXPERIMENT, "record": RECORD, **_MEMORY_VOLUMES}
    runner.setdefault("volumeMounts", []).extend(
        {"name": volume, "mountPath": path} for volume, path in mounts.items()
    )
    spec["volumes"] = [
        *spec.get("volumes", []),
        {"name": "record", "emptyDir": {}},
        *({"name": volume, "emptyDir": {}} for volume in _MEMORY_VOLUMES),
        {"name": "experiment", "configMap": {"name": owner}},
    ]
    spec["enableServiceLinks"] = False


def _record_container(runner: Mapping[str, Any]) -> dict[str, Any]:
    """A container that sleeps next to the record; commands are run in it."""
    security = {
        **{key: runner["securityContext"][key] for key in ("seccompProfile",)},
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        # The record's files are of the user who runs.
        "runAsUser": runner["securityContext"]["runAsUser"],
        "runAsNonRoot": runner["securityContext"]["runAsUser"] != 0,
    }
    return {
        "name": RECORD_CONTAINER,
        "image": runner["image"],
        "command": ["python3", "-m", "plimsoll.cluster.pods.sleeper"],
        "resources": {"limits": dict(_RECORD_RESOURCES), "requests": dict(_RECORD_RESOURCES)},
        "securityContext": security,
        "volumeMounts": [{"name": "record", "mountPath": RECORD}],
    }


def _labels(name: str) -> dict[str, str]:
    return {**MANAGED, RUN_LABEL: name}
