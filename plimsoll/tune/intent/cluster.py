"""The intent's cluster: what OpenShift itself keeps off the isolated CPUs, or leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.tune.intent.fields.section import ObjectName, Section, Switch, Text, Word

_RETENTION = re.compile(r"[1-9]\d{0,5}(?:ms|s|m|h|d|w|y)", re.ASCII)


def _check_retention(text: str) -> str:
    if not _RETENTION.fullmatch(text):
        raise mistake(f"{brief(text)} is not a Prometheus duration", "write for example 24h or 15d")
    return text


Retention: TypeAlias = Annotated[str, AfterValidator(_check_retention)]
WholeSeconds: TypeAlias = Annotated[int, Field(ge=1, le=86400)]


class Pool(Section):
    """The nodes it is for: a MachineConfigPool and its nodes' role."""

    role: ObjectName
    """The nodes' role, which is the MachineConfigPool's name too."""
    selector: Mapping[Word, Text] | None = None
    """machineConfigPoolSelector, one label; left out, the profile has none and the operator takes
    machineconfiguration.openshift.io/role with the role in the nodes' label."""
    node_selector: Mapping[Word, Text] | None = None
    """nodeSelector, one label; left out, node-role.kubernetes.io/ with the role."""

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels that choose the nodes."""
        if self.node_selector is not None:
            return dict(self.node_selector)
        return {f"node-role.kubernetes.io/{self.role}": ""}

    @property
    def machine_config_labels(self) -> dict[str, str]:
        """The labels of MachineConfigs for the pool, which Tuned's recommend matches too."""
        return {"machineconfiguration.openshift.io/role": self.role}

    @model_validator(mode="after")
    def _check_one_label(self) -> Self:
        """The Node Tuning Operator's own rules."""
        if self.selector is not None and len(self.selector) != 1:
            raise mistake(
                f"has {len(self.selector)} labels", "name the pool by one label", "selector"
            )
        if self.node_selector is not None:
            self._check_nodes(self.node_selector)
        return self

    def _check_nodes(self, labels: Mapping[str, str]) -> None:
        if len(labels) != 1:
            raise mistake(
                f"has {len(labels)} labels", "name the nodes by one label", "node_selector"
            )
        domain, _, role = next(iter(labels)).partition("/")
        if self.selector is None and not (domain and role):
            raise mistake(
                f"{brief(next(iter(labels)))} is not of the form domain/role, from which the "
                "operator would find the pool",
                "add selector, or use node-role.kubernetes.io/ with the role",
                "node_selector",
            )


class CpuManager(Section):
    """The kubelet's CPU manager, where no performance profile sets it."""

    policy: Literal["static", "none"] = "static"
    """cpuManagerPolicy: static gives guaranteed pods CPUs of their own."""
    reconcile_period_s: WholeSeconds | None = None
    """cpuManagerReconcilePeriod, in s; left out, the kubelet's default."""


class ReducedMonitoring(Section):
    """What is left of the cluster's monitoring."""

    grafana: Switch = None
    """Whether Grafana runs. OpenShift has none since 4.11."""
    alertmanager: Switch = None
    """Whether the cluster's Alertmanager runs."""
    prometheus_retention: Retention | None = None
    """How long Prometheus keeps samples, as Prometheus writes times: 24h."""


class KubeletHousekeeping(Section):
    """How often the kubelet looks around."""

    interval_s: WholeSeconds
    """How often the kubelet looks at the containers' control groups, in s; its default is 10."""
    max_interval_s: WholeSeconds | None = None
    """How long it may put that off at most, in s; its default is 15."""
    eviction_monitoring_period_s: WholeSeconds | None = None
    """How often it looks whether pods must go for want of memory or disk, in s; its default is 10.
    """


class Cluster(Section):
    """What is left out is neither rendered nor judged."""

    single_node: bool = False
    """Whether the one node is the whole cluster, whose API goes away when it restarts."""
    workload_partitioning: Switch = None
    """On: the platform's own pods stay on the reserved CPUs."""
    cpu_manager: CpuManager | None = None
    """The kubelet's CPU manager, where no performance profile sets it."""
    reduced_monitoring: ReducedMonitoring | None = None
    """What is left of the cluster's monitoring; left out, it is not touched."""
    network_diagnostics: Switch = None
    """Whether the pods that probe the cluster's network run."""
    console: Switch = None
    """Whether the web console runs."""
    kubelet_housekeeping: KubeletHousekeeping | None = None
    """How often the kubelet looks around; left out, it is not touched."""
