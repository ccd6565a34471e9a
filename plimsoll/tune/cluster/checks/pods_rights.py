"""118: whether the cluster lets the pods in, and with no more than they need."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement
from plimsoll.tune.cluster.kinds import (
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
    SECURITY_CONSTRAINT,
    SERVICE_ACCOUNT_OF_PODS,
)
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    judge_object,
)
from plimsoll.tune.cluster.objects.expected_rights import expected_namespaces, expected_rights
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent


def _judge(view: ClusterView, intent: Intent, _: Pool) -> CheckJudgement:
    expected = [*expected_namespaces(intent), *expected_rights(intent)]
    return judge_each(
        expected,
        partial(judge_object, view),
        none="the intent's pods and networks take no namespace and no right of their own",
        sound=f"as rendered: {abbreviated(each.title for each in expected)}",
    )


CHECK = ClusterCheck(
    number=118,
    name="pods-rights",
    title="The pods have the namespace and the rights that they need, and no more",
    reads=(NAMESPACE, SECURITY_CONSTRAINT, SERVICE_ACCOUNT_OF_PODS, ROLE, ROLE_BINDING),
    why=(
        "What is missing fails: without it the cluster refuses pods that lock memory for DMA. "
        "What is allowed beyond is warned of: the pods run the same with it, but an attacker who "
        "breaks out of one, or starts another under its account, has that too."
    ),
    fix="Apply the rendered objects, and take out of them what others have added.",
    sources=(
        "openshift/api, security/v1: SecurityContextConstraints",
        "Kubernetes, Pod Security Admission; Using RBAC Authorization",
    ),
    pool_rule=_judge,
)
