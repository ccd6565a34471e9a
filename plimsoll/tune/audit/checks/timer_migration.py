"""26: whether timers move away from idle CPUs."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import CheckJudgement
from plimsoll.tune.audit.setting import judge_setting, setting_path
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_NAME = "kernel.timer_migration"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    harm = (
        "timers set before a workload starts stay on its CPUs"
        if view.read(setting_path(_NAME)) == "0"
        else "timers of other CPUs may come to those under test"
    )
    return judge_setting(view, intent, _NAME, harm=harm)


CHECK = Check(
    number=26,
    name="timer-migration",
    group="kernel",
    title="Timers move, or stay, as the platform needs",
    reads=(setting_path(_NAME),),
    why=(
        "With timer_migration=1 the timers of idle CPUs run on busy ones. Bare-metal profiles "
        "set 0, so that none comes to a CPU that is set apart from the boot on; OpenShift sets "
        "1, because it gives CPUs to pods later and must drain the timers that are there (4.20 "
        "and 4.21 do so with the real-time kernel only)."
    ),
    fix=(
        "Set kernel.timer_migration to what the platform's own profile has: 1 on OpenShift, or 0 "
        "where the CPUs are set apart from the boot on."
    ),
    sources=(
        "cluster-node-tuning-operator, openshift-node-performance: kernel.timer_migration=1",
        "TuneD, profile cpu-partitioning: kernel.timer_migration=0",
        "Article: DPDK latency in OpenShift - Part II, Tuned performance-patch",
    ),
    rule=_judge,
)
