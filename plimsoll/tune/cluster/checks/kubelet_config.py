"""104: the KubeletConfig that the operator makes, and any other that takes its place."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail
from plimsoll.tune.cluster.kinds import KUBELET_CONFIG, MACHINE_CONFIG_POOL
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_object, sum_up
from plimsoll.tune.cluster.objects.expected_objects import expected_kubelet_config
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import KubeObject, labels_of, name_of, texts_at


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    expected = expected_kubelet_config(intent)
    found = view.find(MACHINE_CONFIG_POOL, pool.role)
    labels = labels_of(found) if found else {}
    others = [each for each in view.need(KUBELET_CONFIG) if name_of(each) != expected.name]
    return sum_up([judge_object(view, expected), *_judge_others(others, labels, pool)])


def _judge_others(
    others: list[KubeObject], labels: dict[str, str], pool: Pool
) -> Iterator[CheckJudgement]:
    for each in others:
        selector = texts_at(each, "spec", "machineConfigPoolSelector", "matchLabels")
        if selector and selector.items() <= labels.items():
            name = name_of(each)
            yield fail(
                f"KubeletConfig {name} is for pool {pool.role} too, and a node gets one of both",
                Reading(f"KubeletConfig {name} spec.machineConfigPoolSelector", str(selector)),
                expected="one KubeletConfig for the pool",
                steps=[advice(f"move what KubeletConfig {name} sets into the PerformanceProfile's "
                "annotation kubeletconfig.experimental, and delete it")],
            )  # fmt: skip


CHECK = ClusterCheck(
    number=104,
    name="kubelet-config",
    title="The kubelet's CPU and topology managers are set as intended",
    reads=(KUBELET_CONFIG, MACHINE_CONFIG_POOL),
    why=(
        "Exclusive CPUs come from the kubelet's static CPU manager and the right NUMA node from "
        "its topology manager. A second KubeletConfig for the pool can take both away."
    ),
    fix="Keep one KubeletConfig a pool: the one that the operator makes of the profile.",
    sources=(
        "openshift/cluster-node-tuning-operator, components/kubeletconfig",
        "OpenShift, KubeletConfig: machineConfigPoolSelector",
    ),
    pool_rule=_judge,
)
