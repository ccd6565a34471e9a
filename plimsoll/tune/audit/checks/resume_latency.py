"""14: the wake-up that single CPUs are promised."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, not_applicable, ok
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_ANNOTATION = "cpu-c-states.crio.io"
_CPU = "/sys/devices/system/cpu"


def _path(cpu: int | str) -> str:
    return f"{_CPU}/cpu{cpu}/power/pm_qos_resume_latency_us"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    asking = [pod for pod in intent.pods if _ANNOTATION in pod.annotations]
    if not asking:
        return not_applicable(f"no pod of the intent has the annotation {_ANNOTATION}")
    needed = int(max(pod.cpus for pod in asking))
    cpus = present_isolated(view, intent)
    if not cpus:
        return not_applicable(NONE_PRESENT)
    found = {cpu: text for cpu in cpus if (text := view.find(_path(cpu)))}
    if not found:
        return not_applicable("the kernel takes no such requests here")
    # "0" is not a request, and "n/a" requests zero latency.
    limited = sorted(cpu for cpu, text in found.items() if text != "0")
    listed = format_cpu_list(limited) or "none"
    read = Reading(_path("*"), f"a limit on isolated CPUs {listed}")
    expected = f"a limit on {counted(needed, 'CPU')}, those of a pod of {asking[0].name}"
    if len(limited) < needed:
        return fail(
            f"{counted(len(limited), 'isolated CPU')} with a limit, and one pod alone asks for "
            f"{needed}: no such pod runs, or the runtime ignored its annotation",
            read,
            expected=expected,
            steps=[advice("give the pod the performance profile's runtimeClassName")],
        )
    return ok(f"isolated CPUs {listed} have a limit", read, expected=expected)


CHECK = Check(
    number=14,
    name="resume-latency",
    group="power",
    title="CPUs of pods that ask for it wake up in time",
    reads=(
        ONLINE,
        f"{_CPU}/cpu[0-9]*/power/pm_qos_resume_latency_us",
    ),
    why=(
        "Where pods choose the power settings of their CPUs, the runtime writes a bound on the "
        "wake-up for each of them. It does so for its own runtime class only, and says "
        "nothing when it does not."
    ),
    fix=(
        "Run the pod with the performance profile's runtimeClassName and hints.per_pod_power "
        'on; its annotation is cpu-c-states.crio.io: "disable" or "max_latency:10".'
    ),
    sources=(
        "Linux, Documentation/ABI/testing/sysfs-devices-power: pm_qos_resume_latency_us",
        "CRI-O, annotation cpu-c-states.crio.io",
    ),
    rule=_judge,
)
