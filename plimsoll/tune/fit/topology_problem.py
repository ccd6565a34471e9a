"""A rule that an intent breaks on the host it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TopologyRule = Literal[
    "cpus-exist",
    "cpus-covered",
    "siblings-together",
    "smt",
    "cpu-0-reserved",
    "node-has-reserved",
    "hugepage-nodes-exist",
    "hugepages-fit",
    "nics-exist",
    "nic-node-has-isolated",
    "nic-node-has-hugepages",
    "nic-is-uplink",
    "port-named-once",
    "generator-isolated",
    "pods-whole-cores",
    "pods-fit-a-node",
    "pods-fit-memory",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule broken: `field` is the place in the intent, `remedy` what to change.

    A `warn` is sound on some hosts on purpose; a `fail` on none.
    """

    rule: TopologyRule
    field: str
    severity: Literal["fail", "warn"]
    text: str
    remedy: str
