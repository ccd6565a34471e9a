"""24: how much of each second threads of real-time priority may have."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import CheckJudgement, Reading, ok, warn
from plimsoll.tune.audit.setting import judge_setting, set_it, setting_path
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number
from plimsoll.tune.intent.intent import Intent

_RUNTIME = "kernel.sched_rt_runtime_us"
_PERIOD = "kernel.sched_rt_period_us"
_NO_LIMIT = "-1"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    judged = judge_setting(view, intent, _RUNTIME, harm=_harm(view))
    if judged.verdict != "not-applicable" or intent.scheduling.fifo_priority is None:
        return judged
    # The intent sets no limit, but pollers of such a priority run into it.
    value = view.find(setting_path(_RUNTIME))
    if value is None:
        return judged
    expected = "no limit: the intent has polling threads of real-time priority"
    read = Reading(setting_path(_RUNTIME), value)
    if value == _NO_LIMIT or value == view.find(setting_path(_PERIOD)):
        return ok(f"{_RUNTIME} is {value}: no limit", read, expected=expected)
    message = f"{_RUNTIME} is {value}: {_harm(view)}"
    return warn(message, read, expected=expected, steps=[set_it(intent, _RUNTIME, _NO_LIMIT)])


def _harm(view: HostView) -> str:
    runtime, period = view.read(setting_path(_RUNTIME)), view.read(setting_path(_PERIOD))
    if runtime == _NO_LIMIT or not (runtime and period):
        return "a poller of real-time priority may starve all else on its CPU"
    runtime_us, period_us = whole_number(runtime), whole_number(period)
    if runtime_us is None or period_us is None:
        return "the limit is not the intent's"
    idle_ms = max(0, period_us - runtime_us) / 1e3
    return f"a poller of real-time priority is stopped for {idle_ms:g} ms of each period"


CHECK = Check(
    number=24,
    name="realtime-limit",
    group="kernel",
    title="Real-time threads have the time that the intent gives them",
    reads=(setting_path(_RUNTIME), setting_path(_PERIOD)),
    why=(
        "By default threads of real-time priority get 950 ms of every 1 s of a CPU, and then "
        "wait 50 ms: a polling loop at SCHED_FIFO loses every frame that its rings cannot hold "
        "for so long. Without the limit the same loop starves everything else on its CPU, so "
        "either value can be the right one."
    ),
    fix=(
        "Set kernel.sched_rt_runtime_us=-1 where polling loops run at SCHED_FIFO on CPUs of "
        "their own. From Linux 6.12 on ordinary threads get their share by a deadline server "
        "of each CPU instead (fair_server in the scheduler's debugfs)."
    ),
    sources=(
        "Linux, Documentation/scheduler/sched-rt-group.rst",
        "cluster-node-tuning-operator, real-time hint: kernel.sched_rt_runtime_us=-1",
        "Article: DPDK latency in OpenShift - Part II, Scheduling priority",
    ),
    rule=_judge,
)
