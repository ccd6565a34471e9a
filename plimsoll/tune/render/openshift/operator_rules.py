"""What OpenShift's operators refuse, beyond what every intent is checked for.

From the webhooks of openshift/cluster-node-tuning-operator at commit d2394aa8
(pkg/apis/performanceprofile/v2/performanceprofile_validation.go) and of
k8snetworkplumbingwg/sriov-network-operator at commit 249e2001 (pkg/webhook/validate.go);
names and labels by Kubernetes' own rules; namespaces by OpenShift's documentation ("Role-based
access to security context constraints") and its Multus (k8snetworkplumbingwg/multus-cni,
docs/configuration.md, "Namespace Isolation").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from plimsoll.text.mistakes import brief
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import MELLANOX, Nic
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.render.files.refusal import Mistake
from plimsoll.tune.render.openshift.machine_config_pool import BUILT_IN
from plimsoll.tune.render.openshift.namespace import DEFAULT, is_the_clusters

# Whose networks pods of every namespace may join (globalNamespaces, which the Cluster Network
# Operator sets along with namespaceIsolation).
_SHARED_NAMESPACES = (
    DEFAULT,
    "openshift-cnv",
    "openshift-multus",
    "openshift-sriov-network-operator",
)
_RESOURCE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9_-]*[a-zA-Z0-9])?", re.ASCII)
_MAX_MELLANOX_VFS = 128
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", re.ASCII)
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)


def check_operator_rules(intent: Intent, pool: Pool) -> Iterator[Mistake]:
    """Every rule that the intent breaks, in the order of its fields."""
    yield from _pool(pool)
    for place, nic in enumerate(intent.nics):
        yield from _nic(nic, f"nics[{place}]")
    for kind, given in intent.annotations.items():
        for key in given:
            yield from _key(key, f"annotations.{kind}")
    for place, pod in enumerate(intent.pods):
        yield from _labels(pod.node_selector, f"pods[{place}].node_selector")
        for field in ("annotations", "resources"):
            for key in getattr(pod, field):
                yield from _key(key, f"pods[{place}].{field}")
        yield from _namespace(intent, pod, f"pods[{place}]")


def _pool(pool: Pool) -> Iterator[Mistake]:
    for field, labels in (("selector", pool.selector), ("node_selector", pool.node_selector)):
        yield from _labels(labels or {}, f"pool.{field}")
    if pool.role == "arbiter":
        message = ", ".join(sorted(BUILT_IN - {"arbiter"}))
        yield Mistake(
            "pool.role", "arbiters run no workload", f"use {message} or a role of your own"
        )


def _nic(nic: Nic, field: str) -> Iterator[Mistake]:
    if nic.num_vfs is None:
        return
    yield from _labels(nic.node_selector or {}, f"{field}.node_selector")
    if nic.resource_name is None or not _RESOURCE.fullmatch(nic.resource_name):
        yield Mistake(
            f"{field}.resource_name",
            "its VFs need a name that starts and ends with a letter or digit",
            f"add for example resource_name: {nic.name.replace('-', '_')}",
        )
    if nic.vf_range and not nic.pf_names:
        yield Mistake(
            f"{field}.vf_range",
            "a policy gives ranges of VFs by the interface's name alone",
            "name the ports by pf_names",
        )
    if nic.device_id is not None and nic.vendor is None:
        yield Mistake(f"{field}.device_id", "stands without its vendor", "add vendor")
    if nic.vendor == MELLANOX and nic.num_vfs > _MAX_MELLANOX_VFS:
        yield Mistake(
            f"{field}.num_vfs",
            f"{nic.num_vfs} are more than the operator gives mlx5 cards",
            f"use at most {_MAX_MELLANOX_VFS}",
        )


def _namespace(intent: Intent, pod: Pod, field: str) -> Iterator[Mistake]:
    """No SCC can be assigned in the cluster's own namespaces, and Multus keeps others apart."""
    namespace = intent.namespace_of(pod)
    if is_the_clusters(namespace):
        yield Mistake(
            f"{field}.namespace" if pod.namespace else "namespace",
            f"{namespace} is the cluster's own: OpenShift gives pods there no security context "
            "constraint",
            "name one for the workload",
        )
    for place, name in enumerate(pod.networks):
        found = intent.namespace_of_network(intent.network(name))
        if found not in (namespace, *_SHARED_NAMESPACES):
            yield Mistake(
                f"{field}.networks[{place}]",
                f"{name} is in the namespace {found}, and OpenShift's Multus lets pods of "
                f"{namespace} join those of their own, and of {DEFAULT}",
                "give both the same namespace, or add a network of the pod's own",
            )


def _labels(labels: Mapping[str, str], field: str) -> Iterator[Mistake]:
    for key, value in labels.items():
        yield from _key(key, field)
        if value and not _NAME.fullmatch(value):
            yield Mistake(
                field,
                f"{brief(value)} is not a valid label value",
                "use at most 63 letters, digits and - _ .",
            )


def _key(key: str, field: str) -> Iterator[Mistake]:
    domain, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _DOMAIN.fullmatch(domain)):
        yield Mistake(
            field, f"{brief(key)} is not a valid Kubernetes name", "write it as domain/name"
        )
