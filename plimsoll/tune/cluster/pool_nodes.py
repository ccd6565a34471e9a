"""The nodes that an intent is for."""

from __future__ import annotations

from plimsoll.tune.cluster.cluster_view import ClusterView
from plimsoll.tune.cluster.kinds import NODE
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.kubernetes.kube_object import KubeObject, labels_of, name_of, text_at


def pool_nodes(view: ClusterView, pool: Pool) -> tuple[KubeObject, ...]:
    """Those with all labels of the pool, by name. Raises CannotRead."""
    expected = pool.node_labels.items()
    found = [each for each in view.need(NODE) if expected <= labels_of(each).items()]
    return tuple(sorted(found, key=name_of))


def need_pool_nodes(view: ClusterView, pool: Pool) -> tuple[KubeObject, ...]:
    """The same. Raises CannotRead where there are none, for nothing can be judged of them."""
    found = pool_nodes(view, pool)
    if not found:
        labels = ",".join(f"{key}={value}" for key, value in pool.node_labels.items())
        raise CannotRead(Unread(f"a node with {labels}", "absent"))
    return found


def kernel_of(node: KubeObject) -> str:
    """The release of the kernel that a node runs; empty where it does not say."""
    return text_at(node, "status", "nodeInfo", "kernelVersion")
