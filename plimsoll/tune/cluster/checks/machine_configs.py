"""103: the MachineConfigs, and whether the pool takes them."""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok
from plimsoll.tune.cluster.kinds import MACHINE_CONFIG, MACHINE_CONFIG_POOL
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_object,
    sum_up,
)
from plimsoll.tune.cluster.objects.expected_objects import expected_machine_configs
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import items_at, text_at

_REALTIME = "realtime"


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    rendered = expected_machine_configs(intent, pool)
    # components/machineconfig/machineconfig.go, GetMachineConfigName
    operators = f"50-performance-{intent.name}"
    names = [operators, *(each.name for each in rendered)]
    return sum_up(
        [
            *(judge_object(view, each) for each in rendered),
            _judge_operators(view, intent, operators),
            _judge_taken(view, pool, names),
        ]
    )


def _judge_operators(view: ClusterView, intent: Intent, name: str) -> CheckJudgement:
    found = view.find(MACHINE_CONFIG, name)
    if found is None:
        return fail(
            f"there is no MachineConfig {name}, which the Node Tuning Operator makes",
            expected=f"MachineConfig {name}",
            steps=[advice("see why the operator does not carry the PerformanceProfile out")],
        )
    kernel = text_at(found, "spec", "kernelType") or "default"
    read = Reading(f"MachineConfig {name} spec.kernelType", kernel)
    if "realtime" in intent.kernel.model_fields_set and (
        (kernel == _REALTIME) != intent.kernel.realtime
    ):
        expected = _REALTIME if intent.kernel.realtime else "no real-time kernel"
        return fail(f"MachineConfig {name} boots the kernel {kernel}", read, expected=expected)
    return ok(f"the operator made MachineConfig {name}", read)


def _judge_taken(view: ClusterView, pool: Pool, names: list[str]) -> CheckJudgement:
    found = view.find(MACHINE_CONFIG_POOL, pool.role)
    sources = items_at(found, "status", "configuration", "source")
    taken = {text_at(each, "name") for each in sources}
    where = f"MachineConfigPool {pool.role} status.configuration.source"
    if missing := [name for name in names if name not in taken]:
        return fail(
            f"the nodes of pool {pool.role} do not run with {abbreviated(missing)}",
            Reading(where, abbreviated(sorted(taken)) or "none"),
            expected=abbreviated(names),
            steps=[advice("check the labels of the MachineConfigs, and that the pool rolls out")],
        )
    return ok(f"pool {pool.role} takes {abbreviated(names)}", Reading(where, abbreviated(names)))


CHECK = ClusterCheck(
    number=103,
    name="machine-configs",
    title="The pool's nodes run with the intent's MachineConfigs",
    reads=(MACHINE_CONFIG, MACHINE_CONFIG_POOL),
    why=(
        "A MachineConfig whose label no pool selects changes nothing, without any error. What a "
        "pool lists as its sources is what its nodes run with."
    ),
    fix="Apply the rendered MachineConfigs, with the label of the pool's role.",
    sources=(
        "openshift/api, machineconfiguration/v1: MachineConfigPoolStatusConfiguration",
        "openshift/cluster-node-tuning-operator, components/machineconfig",
    ),
    pool_rule=_judge,
)
