"""117: probes that start processes inside the dataplane's pods."""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok
from plimsoll.tune.cluster.dataplane_pods import dataplane_pods
from plimsoll.tune.cluster.kinds import POD
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
)
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, full_name
from plimsoll.tune.kubernetes.pods import containers_of, exec_probes


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    return judge_each(
        dataplane_pods(view, intent),
        _judge_pod,
        none="no pod of the dataplane runs",
        sound="no probe starts a process in the dataplane's pods",
    )


def _judge_pod(pod: KubeObject) -> CheckJudgement:
    name = full_name(pod)
    found = list(exec_probes(containers_of(pod)))
    if not found:
        return ok(
            f"pod {name} has no exec probe", Reading(f"Pod {name} spec.containers", "no exec")
        )
    return fail(
        f"pod {name} has exec probes: {abbreviated(found)}",
        *(Reading(f"Pod {name} {each}", "exec") for each in found),
        expected="no exec probes",
        steps=[advice("use httpGet, tcpSocket or grpc, answered off the isolated CPUs, or none")],
    )


CHECK = ClusterCheck(
    number=117,
    name="pods-probes",
    title="No probe starts processes in the dataplane's pods",
    reads=(POD,),
    why=(
        "An exec probe starts a process in the container at every interval, on the CPUs that the "
        "container has to itself, where the polling loop runs."
    ),
    fix="Take exec probes out of dataplane pods.",
    sources=("OpenShift, Telco RAN DU reference design specification: exec probes",),
    rule=_judge,
)
