"""The job of a matrix: an index a sample, as many at once as there are test beds for them.

How many that is no one counts here: each pod asks for the CPUs, pages and virtual functions of a
test bed and shares its node with no other of the job, so the scheduler, or Kueue where a queue is
named, lets in as many as fit. Which nodes are test beds, the intent's node selector says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.cluster.pods.manifests import (
    RECORD,
    RUN_ANNOTATION,
    RUN_LABEL,
    run_pod,
)
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.host.kubernetes.labels import MANAGED, NODE_LABEL
from plimsoll.tune.render.files.manifest import Manifest, manifest_of

# Of Kueue (its documentation, "Run Kubernetes Jobs"): it lets the job begin.
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# Else it would wait until there are test beds for all samples at once, mostly for ever.
_AS_FEW_AS_ONE = {"kueue.x-k8s.io/job-min-parallelism": "1"}
_CELLS = "/etc/plimsoll"


def job_manifest(
    name: str,
    run_id: str,
    plan: PodPlan,
    owner: Mapping[str, Any],
    *,
    count: int,
    store: tuple[str, ...],
    secret: str | None,
    queue: str | None,
) -> Manifest:
    """The object. `store` is what the cell takes for where the records go.

    `secret` names a secret with the access key in AWS's variables; `queue` Kueue's local queue,
    which lets the job begin.
    """
    pod = _pod(run_pod(name, run_id, plan, owner), run_id, store, secret)
    labels = {**MANAGED, RUN_LABEL: name}
    manifest = manifest_of(
        "batch/v1",
        "Job",
        name,
        labels=labels | ({QUEUE_LABEL: queue} if queue else {}),
        annotations={RUN_ANNOTATION: run_id} | (_AS_FEW_AS_ONE if queue else {}),
        spec={
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            # A sample that failed is not run again by itself, and keeps no other from being run.
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": count,
            "suspend": queue is not None,
            "template": {
                "metadata": {
                    "labels": pod["metadata"]["labels"],
                    "annotations": pod["metadata"]["annotations"],
                },
                "spec": pod["spec"],
            },
        },
    )
    manifest["metadata"]["ownerReferences"] = pod["metadata"]["ownerReferences"]
    return manifest


def _pod(pod: Manifest, run_id: str, store: tuple[str, ...], secret: str | None) -> Manifest:
    """The pod of a run with the cell's command, and without what waits for someone here."""
    spec = pod["spec"]
    runner, _ = spec["containers"]
    spec["containers"] = [runner]
    runner["command"] = [
        *("python3", "-m", "plimsoll.methods.matrix.job_cell", _CELLS, RECORD, run_id, *store)
    ]
    if secret:
        runner["envFrom"] = [{"secretRef": {"name": secret}}]
    spec["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": dict(MANAGED)},
                    "topologyKey": NODE_LABEL,
                }
            ]
        }
    }
    return pod
