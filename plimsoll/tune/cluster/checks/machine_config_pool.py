"""102: the MachineConfigPool, and whether its nodes have what it asks for."""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, warn
from plimsoll.tune.cluster.kinds import MACHINE_CONFIG_POOL
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_object, sum_up
from plimsoll.tune.cluster.objects.expected_objects import expected_pool
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    condition,
    is_true,
    number_at,
    text_at,
    value_at,
)


def _judge(view: ClusterView, intent: Intent, pool: Pool) -> CheckJudgement:
    expected = expected_pool(intent, pool)
    parts = [judge_object(view, expected)] if expected else []
    found = view.find(MACHINE_CONFIG_POOL, pool.role)
    if found is not None:
        parts.append(_judge_rollout(found, pool.role))
    elif expected is None:
        parts.append(fail(f"there is no MachineConfigPool {pool.role}"))
    return sum_up(parts)


def _judge_rollout(found: KubeObject, role: str) -> CheckJudgement:
    where = f"MachineConfigPool {role}"
    total, updated = (
        number_at(found, "status", field) or 0 for field in ("machineCount", "updatedMachineCount")
    )
    read = Reading(f"{where} status", f"{updated} of {total} machines are up to date")
    expected = "all machines up to date"
    if is_true(found, "Degraded"):
        message = text_at(condition(found, "NodeDegraded"), "message") or "it does not say why"
        step = advice(f"read oc describe machineconfigpool {role}")
        return fail(f"{where} is degraded: {message}", read, expected=expected, steps=[step])
    if total == 0:
        return fail(f"{where} has no machines", read, expected="nodes with the pool's label")
    if updated < total or not is_true(found, "Updated"):
        held = value_at(found, "spec", "paused") is True
        text = f"{where}: {updated} of {total} machines have the expected configuration"
        steps = [advice(f"unpause {where}")] if held else [advice("wait until it is rolled out")]
        return warn(
            f"{text}{', and it is paused' if held else ''}", read, expected=expected, steps=steps
        )
    return ok(f"{where}: {updated} of {total} machines are up to date", read)


CHECK = ClusterCheck(
    number=102,
    name="machine-config-pool",
    title="The pool is as rendered, and rolled out to all its nodes",
    reads=(MACHINE_CONFIG_POOL,),
    why=(
        "What the API shows is what is expected; a node has it only once the pool has been rolled "
        "out. A pool that is paused or degraded leaves nodes as they were."
    ),
    fix="Wait for the rollout, unpause the pool, or fix what its conditions name.",
    sources=("openshift/api, machineconfiguration/v1: MachineConfigPoolStatus",),
    pool_rule=_judge,
)
