"""45: whether the kubelet runs programs inside the workload's containers."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import Judgement, not_applicable
from plimsoll.tune.host.host_view import HostView

_IN_THE_CLUSTER = (
    "probes are in the pods' specifications, which only the Kubernetes API and a must-gather "
    "have: audit the cluster as well"
)


def _judge(_: HostView) -> Judgement:
    return not_applicable(_IN_THE_CLUSTER)


CHECK = Check(
    number=45,
    name="exec-probes",
    group="pod",
    title="No probe runs programs in the workload's containers",
    reads=(),
    why=(
        "For an exec probe the runtime starts a process in the container, on the container's own "
        "CPUs, every few seconds: fork, exec and page faults in the midst of the polling loops."
    ),
    fix="Use an httpGet, tcpSocket or grpc probe, or none, in pods that poll.",
    sources=(
        "Kubernetes, Configure Liveness, Readiness and Startup Probes",
        "OpenShift, Low latency tuning: exec probes and CPU pinning",
    ),
    host_rule=_judge,
)
