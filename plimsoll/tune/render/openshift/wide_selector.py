"""Policies for a kind of card: they take every port of it, the node's own uplink too.

The SR-IOV operator leaves no port out by itself: `Selected` in api/v1/helper.go of
k8snetworkplumbingwg/sriov-network-operator at commit 249e2001 compares what the selector has
and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import Nic

_STATES = "oc get sriovnetworknodestates -n openshift-sriov-network-operator -o yaml"


def wide_selectors(intent: Intent) -> Iterator[Nic]:
    """The nics whose policy has neither the names of ports nor their addresses."""
    if intent.platform == "openshift":
        yield from (nic for nic in intent.nics if nic.num_vfs is not None and nic.by_kind)


def danger_of(nic: Nic) -> str:
    """What its policy takes, as a sentence."""
    return (
        f"nic {nic.name} selects every port {nic.kind} of each node, one that carries the node's "
        "own traffic too, and divides it."
    )


def narrowing_of(nic: Nic) -> str:
    """How to narrow it, as sentences in Markdown."""
    return (
        f"Name its ports in the intent, `pf_names: [...]` or `pci: [...]` of the nic "
        f"{nic.name}, and render anew; `{_STATES}` lists them under `status.interfaces`."
    )
