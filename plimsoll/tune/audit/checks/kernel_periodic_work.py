"""25: how often the kernel looks at every CPU and every task."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import CheckJudgement, tell, worst_of
from plimsoll.tune.audit.setting import at_least, judge_setting, setting_path
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_STAT = "vm.stat_interval"
_HUNG = "kernel.hung_task_timeout_secs"


def _no_more_often(value: str, expected: str) -> bool:
    """0 turns khungtaskd off."""
    return value == "0" or (expected != "0" and at_least(value, expected))


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return worst_of(
        (
            tell(
                lambda: judge_setting(
                    view,
                    intent,
                    _STAT,
                    harm="each CPU with counts to fold gets a work item that often",
                    serves=at_least,
                )
            ),
            tell(
                lambda: judge_setting(
                    view,
                    intent,
                    _HUNG,
                    harm="khungtaskd goes through all tasks that often",
                    serves=_no_more_often,
                    without="this kernel does not look for hung tasks",
                )
            ),
        )
    )


CHECK = Check(
    number=25,
    name="kernel-periodic-work",
    group="kernel",
    title="The kernel looks at every CPU seldom",
    reads=(setting_path(_STAT), setting_path(_HUNG)),
    why=(
        "Every vm.stat_interval seconds, 1 by default, the kernel queues work on each CPU that "
        "has memory statistics to fold: a switch away from the polling loop. khungtaskd goes "
        "through all tasks and holds RCU while it does."
    ),
    fix="Set vm.stat_interval=10 and kernel.hung_task_timeout_secs=600, as cpu-partitioning does.",
    sources=(
        "Linux, Documentation/admin-guide/sysctl/vm.rst: stat_interval",
        "Linux, Documentation/admin-guide/sysctl/kernel.rst: hung_task_timeout_secs",
        "TuneD, profile cpu-partitioning",
    ),
    rule=_judge,
)
