"""111: what the cluster's own services leave to the workload."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement
from plimsoll.tune.cluster.kinds import CLUSTER_NETWORK, CONSOLE, MONITORING_CONFIG
from plimsoll.tune.cluster.object_judgement import (
    ClusterCheck,
    ClusterView,
    abbreviated,
    judge_each,
    judge_object,
)
from plimsoll.tune.cluster.objects.expected_objects import expected_services
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent


def _judge(view: ClusterView, intent: Intent, _: Pool) -> CheckJudgement:
    expected = expected_services(intent)
    return judge_each(
        expected,
        partial(judge_object, view),
        none="the intent leaves the cluster's services alone",
        sound=f"as rendered: {abbreviated(each.title for each in expected)}",
    )


CHECK = ClusterCheck(
    number=111,
    name="cluster-services",
    title="Monitoring, diagnostics and console are reduced as intended",
    reads=(MONITORING_CONFIG, CLUSTER_NETWORK, CONSOLE),
    why="On a small cluster the platform's own pods take CPU time and memory that count.",
    fix="Apply the rendered objects; merge the monitoring configuration with what is there.",
    sources=("the article DPDK latency in OpenShift - Part II",),
    pool_rule=_judge,
)
