"""29: whether stalld and chronyd run, or not, as the intent says."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    command,
    fail,
    not_applicable,
    ok,
    worst_of,
)
from plimsoll.tune.audit.setting import tuned_patch
from plimsoll.tune.expected.tuned import expected_units
from plimsoll.tune.host.cpus.threads import PROCESS_READS, Thread, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_PROCESSES = "/proc/*/stat"
_HARM = {
    ("stalld", True): "stalld does not run, which boosts threads that a poller starves",
    ("stalld", False): "stalld runs: it wakes on every CPU and boosts threads over pollers",
    ("chronyd", True): "chronyd does not run: the clock drifts from that of other hosts",
    ("chronyd", False): "chronyd runs: it steers the clock and wakes for it",
}


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = {name: on for name, on in expected_units(intent).items() if (name, on) in _HARM}
    if not expected:
        return not_applicable("the intent does not say whether stalld and chronyd are to run")
    processes = read_processes(view)
    return worst_of(_one(processes, name, on) for name, on in expected.items())


def _one(processes: tuple[Thread, ...], name: str, on: bool) -> CheckJudgement:
    pids = [each.pid for each in processes if each.comm == name]
    message = f"{name}: process {pids[0]}" if pids else f"no process is named {name}"
    expected = f"{name} {'on' if on else 'off'}"
    if bool(pids) == on:
        return ok(
            f"{name} is {'on' if on else 'off'}", Reading(_PROCESSES, message), expected=expected
        )
    return fail(
        _HARM[name, on], Reading(_PROCESSES, message), expected=expected, steps=[_switch(name, on)]
    )


def _switch(name: str, on: bool) -> Step:
    line = f"service.{name}={'start,enable' if on else 'stop,disable'}"
    return command(
        "systemctl",
        "enable" if on else "disable",
        "--now",
        name,
        openshift=tuned_patch("service", line),
        lasts="for-good",
    )


CHECK = Check(
    number=29,
    name="service-daemons",
    group="kernel",
    title="stalld and chronyd run as the intent says",
    reads=PROCESS_READS,
    why=(
        "stalld gives starved threads a moment before a polling loop of real-time priority: "
        "without it such a loop can hang the host, with it the loop is interrupted. chronyd "
        "steps and slews the clock, and its timers and network traffic are one more disturbance."
    ),
    fix="Switch the services by a Tuned patch on OpenShift, else by systemctl.",
    sources=(
        "stalld(8)",
        "cluster-node-tuning-operator, real-time hint: service.stalld=start,enable",
        "Article: DPDK latency in OpenShift - Part II, Tuned performance-patch",
    ),
    rule=_judge,
)
