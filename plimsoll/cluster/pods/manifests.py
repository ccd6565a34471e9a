"""The objects of one run: a config map that owns the others, the run's pod, and its DUTs'.

The containers are those of `tune render` (plimsoll/tune/render/openshift/pod.py): guaranteed,
every capability dropped but what the cards take. To the run's pod a second container is added
that only keeps the volume of the record, so that it can be fetched after the run has ended.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.host.kubernetes.own_objects import (
    MANAGED,
    NODE_LABEL,
    NOT_ROOT,
    guaranteed,
    without_rights,
)
from plimsoll.observe.agent.agent import HOSTNAME_VARIABLE
from plimsoll.text.field_path import FieldPath
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.rendered_file import Manifest, manifest_of
from plimsoll.tune.render.openshift.pod import pod_manifest

# Of the run's own node, and of those that are observed.
NODE_VARIABLE = "PLIMSOLL_NODE"
OBSERVED_VARIABLE = "PLIMSOLL_OBSERVED"


@dataclass(frozen=True, slots=True)
class ObservedNode:
    """A node by `name`, the `pod` on it that observes (a PodPlace), and the DUTs' own `cpus`."""

    name: str
    pod: str
    cpus: tuple[int, ...]


def as_json(nodes: Sequence[ObservedNode]) -> str:
    """For OBSERVED_VARIABLE."""
    return json.dumps([asdict(each) for each in nodes])


def host_fields(
    experiment: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[SetField, ...]:
    """What to set so that the nodes are observed; the run's own is, by the run itself."""
    hosts = [
        {"pod": each["pod"], "polled_cpus": each["cpus"]}
        for each in json.loads(environment.get(OBSERVED_VARIABLE, "[]"))
        if each["name"] != environment.get(NODE_VARIABLE)
    ]
    if not hosts:
        return ()
    given = experiment["observe"]["hosts"]
    return (SetField(FieldPath.parse("observe.hosts"), [*given, *hosts]),)


RUN_LABEL = "plimsoll/run"
RUN_ANNOTATION = "plimsoll/run-id"
# On a DUT's pod, its name in the intent, by which its observer finds it.
POD_LABEL = "plimsoll/pod"
RUN_CONTAINER, RECORD_CONTAINER, OBSERVER_CONTAINER = "run", "record", "observe"
RECORD = "/var/lib/plimsoll"
_EXPERIMENT = "/etc/plimsoll"
_STATE = "/run/plimsoll"
# Python alone takes 40 MB, with what the container imports.
_RECORD_RESOURCES = {"cpu": "100m", "memory": "128Mi"}
# An observer's process has 38 MB before its first reading. Of less than a CPU, so that it is on
# none of those under test.
_OBSERVER_RESOURCES = {"cpu": "200m", "memory": "256Mi"}
_SLEEPER = ["python3", "-m", "plimsoll.cluster.pods.sleeper"]
# What of a DUT's pod says to which nodes it may go, and from where images come.
_OF_ITS_NODE = ("nodeSelector", "tolerations", "imagePullSecrets")
# What of a security context says as whom a container runs.
_AS_WHOM = ("runAsUser", "runAsNonRoot")
_NAME_OF_NODE = {"valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
_RBAC = "rbac.authorization.k8s.io/v1"
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


def run_pod(
    name: str,
    run_id: str,
    plan: PodPlan,
    owner: Mapping[str, Any],
    observed: Sequence[ObservedNode] = (),
) -> Manifest:
    """The pod that runs; `owner` is the config map as the server has it.

    `observed` are the nodes of its DUTs, whose observers it reaches as its service account.
    """
    manifest = _owned_pod(pod_manifest(plan.intent, plan.generator), name, name, run_id, owner)
    spec = manifest["spec"]
    (runner,) = spec["containers"]
    runner["name"] = RUN_CONTAINER
    runner["command"] = [
        *("python3", "-m", "plimsoll.cluster.pods.inside"),
        *(f"{_EXPERIMENT}/experiment.yaml", RECORD, run_id),
    ]
    _confine(spec, runner, owner["metadata"]["name"])
    if observed:
        spec.setdefault("serviceAccountName", name)
        spec["automountServiceAccountToken"] = True
        runner["env"] += [
            {"name": NODE_VARIABLE, **_NAME_OF_NODE},
            {"name": OBSERVED_VARIABLE, "value": as_json(observed)},
        ]
    spec["containers"].append(_record_container(runner))
    return manifest


def dut_pods(name: str, run_id: str, plan: PodPlan, owner: Mapping[str, Any]) -> Iterator[Manifest]:
    """The pods of role `dut`, each with the command that the intent gives it."""
    for pod in plan.duts:
        yield _dut(name, run_id, plan, pod, owner)


def _dut(name: str, run_id: str, plan: PodPlan, pod: Pod, owner: Mapping[str, Any]) -> Manifest:
    manifest = _owned_pod(pod_manifest(plan.intent, pod), dut_name(name, pod), name, run_id, owner)
    manifest["metadata"]["labels"][POD_LABEL] = pod.name
    return manifest


def dut_name(name: str, pod: Pod) -> str:
    """What the pod of one of the intent's DUTs is called."""
    return f"{name}-{pod.name}"


def observer_pod(
    name: str, run_id: str, plan: PodPlan, pod: Pod, owner: Mapping[str, Any]
) -> Manifest:
    """A pod on the node of a DUT's, in which that node's observer can be started."""
    dut = pod_manifest(plan.intent, pod)["spec"]
    container = {
        "name": OBSERVER_CONTAINER,
        "image": plan.image,
        "command": _SLEEPER,
        "env": [{"name": HOSTNAME_VARIABLE, **_NAME_OF_NODE}],
        "resources": guaranteed(_OBSERVER_RESOURCES),
        "securityContext": without_rights(),
    }
    spec = {key: dut[key] for key in _OF_ITS_NODE if key in dut} | {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "affinity": _next_to(name, pod),
        "containers": [container],
    }
    manifest = manifest_of("v1", "Pod", "observer", spec=spec)
    return _owned_pod(manifest, observer_name(name, pod), name, run_id, owner)


def observer_name(name: str, pod: Pod) -> str:
    """What the pod is called that observes the node of a DUT's pod."""
    return f"{dut_name(name, pod)}-node"


def observers_access(
    name: str, run_id: str, plan: PodPlan, owner: Mapping[str, Any]
) -> Iterator[Manifest]:
    """What lets the run's pod run commands in the observers' pods, and in no other.

    A service account of its own, unless the intent's pod has one, as with cards.
    """
    account = pod_manifest(plan.intent, plan.generator)["spec"].get("serviceAccountName", name)
    pods = [observer_name(name, pod) for pod in plan.duts]
    rule = {
        "apiGroups": [""],
        "resources": ["pods/exec"],
        "resourceNames": pods,
        # Which of them an exec over a web socket is, servers of different age see differently.
        "verbs": ["create", "get"],
    }
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    subjects = [{"kind": "ServiceAccount", "name": account}]
    made = [
        manifest_of(_RBAC, "Role", name, rules=[rule]),
        manifest_of(_RBAC, "RoleBinding", name, roleRef=role, subjects=subjects),
    ]
    if account == name:
        made.insert(0, manifest_of("v1", "ServiceAccount", name))
    for manifest in made:
        yield _owned(manifest, name, name, run_id, owner)


def _next_to(name: str, pod: Pod) -> dict[str, Any]:
    """On the node of a DUT's pod."""
    labels = {RUN_LABEL: name, POD_LABEL: pod.name}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": NODE_LABEL}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _owned_pod(
    manifest: Manifest, name: str, run: str, run_id: str, owner: Mapping[str, Any]
) -> Manifest:
    """Owned, and not for ever."""
    manifest = _owned(manifest, name, run, run_id, owner)
    manifest["spec"]["activeDeadlineSeconds"] = _LONGEST_LIFE_S
    manifest["spec"]["terminationGracePeriodSeconds"] = _GRACE_S
    return manifest


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
    return manifest


def _confine(spec: dict[str, Any], runner: dict[str, Any], owner: str) -> None:
    """No more rights than the cards take, a root that cannot be written, volumes for the rest."""
    security = runner["securityContext"]
    if "runAsUser" not in security:
        security |= NOT_ROOT
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
    return {
        "name": RECORD_CONTAINER,
        "image": runner["image"],
        "command": _SLEEPER,
        "resources": guaranteed(_RECORD_RESOURCES),
        # The record's files are of the user who runs.
        "securityContext": without_rights(
            {name: value for name, value in runner["securityContext"].items() if name in _AS_WHOM}
        ),
        "volumeMounts": [{"name": "record", "mountPath": RECORD}],
    }


def _labels(name: str) -> dict[str, str]:
    return {**MANAGED, RUN_LABEL: name}
