"""What of the cluster's own services is left out: monitoring, diagnostics, the console.

Objects and values as in the article "DPDK latency in OpenShift - Part II".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.tune.intent.cluster import Pool, ReducedMonitoring
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import (
    Manifest,
    RenderedFile,
    manifest_of,
    manifest_text,
    yaml_text,
)

_OPERATOR_API = "operator.openshift.io/v1"
_CONSOLE_ANNOTATIONS = {
    "include.release.openshift.io/ibm-cloud-managed": "false",
    "include.release.openshift.io/self-managed-high-availability": "false",
    "include.release.openshift.io/single-node-developer": "false",
    "release.openshift.io/create-only": "true",
}


def render_monitoring(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """Only where the intent reduces it."""
    if intent.cluster.reduced_monitoring is None:
        return
    yield RenderedFile(
        "1-node/40-cluster-monitoring.yaml",
        manifest_text(monitoring_config(intent.cluster.reduced_monitoring)),
        does="Leaves out parts of the cluster's monitoring and keeps its samples for less time. "
        "OpenShift has had no Grafana since 4.11: take `grafana` out there. It **replaces** the "
        "configuration that the cluster may have: merge the two by hand.",
        undo="`oc delete configmap cluster-monitoring-config -n openshift-monitoring`",
    )


def monitoring_config(monitoring: ReducedMonitoring) -> Manifest:
    """The ConfigMap, whose one value is YAML again."""
    config: dict[str, Any] = {}
    if monitoring.grafana is not None:
        config["grafana"] = {"enabled": monitoring.grafana}
    if monitoring.alertmanager is not None:
        config["alertmanagerMain"] = {"enabled": monitoring.alertmanager}
    if monitoring.prometheus_retention is not None:
        config["prometheusK8s"] = {"retention": monitoring.prometheus_retention}
    return manifest_of(
        "v1",
        "ConfigMap",
        "cluster-monitoring-config",
        namespace="openshift-monitoring",
        data={"config.yaml": yaml_text(config)},
    )


def render_network_diagnostics(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """Only where the intent says whether."""
    diagnostics = intent.cluster.network_diagnostics
    if diagnostics is None:
        return
    yield RenderedFile(
        "1-node/41-network-diagnostics.yaml",
        manifest_text(network_diagnostics(diagnostics)),
        does="Switches the pods that probe the cluster's network "
        f"{'on' if diagnostics else 'off'}.",
        undo="Apply it with the opposite value.",
    )


def network_diagnostics(expected: bool) -> Manifest:
    """A part of the operator's object, for `oc apply`: the rest stays as it is."""
    spec = {"disableNetworkDiagnostics": not expected}
    return manifest_of(_OPERATOR_API, "Network", "cluster", spec=spec)


def render_console(intent: Intent, _: Pool) -> Iterator[RenderedFile]:
    """Only where the intent says whether."""
    if intent.cluster.console is None:
        return
    yield RenderedFile(
        "1-node/42-console.yaml",
        manifest_text(console(intent.cluster.console)),
        does=f"{'Runs' if intent.cluster.console else 'Removes'} the web console.",
        undo="Apply it with `managementState: "
        f"{'Removed' if intent.cluster.console else 'Managed'}`.",
    )


def console(expected: bool) -> Manifest:
    """The operator's object."""
    spec = {
        "logLevel": "Normal",
        "managementState": "Managed" if expected else "Removed",
        "operatorLogLevel": "Normal",
    }
    return manifest_of(
        _OPERATOR_API, "Console", "cluster", annotations=dict(_CONSOLE_ANNOTATIONS), spec=spec
    )
