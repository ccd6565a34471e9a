"""30: whether TuneD has the intent's profile active, and its settings still hold."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    command,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    worst_of,
)
from plimsoll.tune.audit.setting import node_tuned
from plimsoll.tune.audit.without_intent import warned_at_most
from plimsoll.tune.expected.tuned import expected_profile
from plimsoll.tune.expected.tuned_names import operator_profile
from plimsoll.tune.host.boot.tuned_profile_files import (
    PARTITIONING,
    PARTITIONING_VARIABLES,
    PROFILE_FILES,
    isolated_by_partitioning,
    with_included,
)
from plimsoll.tune.host.cpus.threads import PROCESS_READS, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent

_ACTIVE = "/etc/tuned/active_profile"
_VERIFY = "tuned-adm verify"
_PROCESSES = "/proc/*/stat"
_POD = (
    "the operator runs TuneD in a pod of the node: oc get pods -o wide "
    "-n openshift-cluster-node-tuning-operator"
)
_IN_A_CONTAINER = (
    "on OpenShift TuneD runs in a container, whose profile the host's files need not show: "
    "oc get profiles.tuned.openshift.io -n openshift-cluster-node-tuning-operator"
)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    expected = expected_profile(intent)
    if expected is None:
        if intent.services.tuned is False:
            return _off(view)
        return not_applicable("the intent does not ask for TuneD")
    return worst_of((tell(lambda: _active(view, intent, expected)), _verified(view)))


def _active(view: HostView, intent: Intent, expected: str) -> CheckJudgement:
    found = view.find(_ACTIVE)
    wish = f"TuneD runs, with the profile {expected}"
    if not found:
        if intent.platform == "openshift":
            return unknown(_IN_A_CONTAINER, Reading(_ACTIVE, "absent"), expected=wish)
        return fail(
            "TuneD has no active profile",
            Reading(_ACTIVE, "absent" if found is None else "empty"),
            expected=wish,
            steps=[_activate(expected)],
        )
    read = Reading(_ACTIVE, found)
    serves = _serving(view, intent, expected, found)
    if serves is None:
        return fail(
            f"TuneD's profile is {found}, not {expected}",
            read,
            expected=wish,
            steps=[_activate(expected)],
        )
    if not _runs(view):
        return fail(
            f"the profile {found} is chosen, and TuneD does not run",
            read,
            Reading(_PROCESSES, "no process is named tuned"),
            expected=wish,
            steps=[
                command("systemctl", "enable", "--now", "tuned", openshift=_POD, lasts="for-good")
            ],
        )
    return ok(serves, read, expected=wish)


def _serving(view: HostView, intent: Intent, expected: str, active: str) -> str | None:
    """In which way the active profile is as good as the expected one; None where it is not.

    What a profile changes of those below it other checks see by its effects.
    """
    if expected in active.split():
        return f"the profile {expected} is active"
    included = with_included(view, active)
    goals = {expected, operator_profile(intent)} if intent.platform == "openshift" else {expected}
    if goals.intersection(included):
        return f"the profile {active} is active, which stands on {expected}"
    if intent.platform == "openshift" or not set(PARTITIONING).intersection(included):
        return None
    isolated = isolated_by_partitioning(view)
    if isolated is None or not _same_cpus(isolated, intent):
        return None
    return f"TuneD's own {active} is active, and isolates CPUs {isolated}"


def _same_cpus(text: str, intent: Intent) -> bool:
    try:
        return frozenset(parse_cpu_list(text.replace(" ", ""))) == intent.cpus.isolated.cpus
    except InputError:
        return False


def _activate(profile: str) -> Step:
    return command(
        "tuned-adm",
        "profile",
        profile,
        openshift=node_tuned(f"its profile {profile}"),
        lasts="for-good",
    )


def _without_intent(view: HostView) -> CheckJudgement:
    """Which profile is right is not stated; whether its settings hold, TuneD knows."""
    active = view.find(_ACTIVE)
    if not active:
        return not_applicable("TuneD has no active profile", Reading(_ACTIVE, active or "absent"))
    read = Reading(_ACTIVE, active)
    return worst_of((ok(f"TuneD's profile is {active}", read), warned_at_most(_verified(view))))


def _verified(view: HostView) -> CheckJudgement:
    """Not applicable where the command is not there: then the other checks have to do."""
    try:
        output = view.need_command(_VERIFY)
    except CannotRead as error:
        if error.unread.cause == "absent":
            return not_applicable(str(error.unread))
        return unknown(str(error.unread))
    last = output.text.splitlines()[-1] if output.text else ""
    read = Reading(_VERIFY, last or f"status {output.status}")
    wish = "all settings are still the profile's"
    if output.status == 0:
        return ok(wish, read, expected=wish)
    return fail(
        "some settings are no longer the profile's, by TuneD's own verification",
        read,
        expected=wish,
        steps=[_again()],
    )


def _again() -> Step:
    return advice(
        "see /var/log/tuned/tuned.log for which, then restart TuneD, with the workload stopped or "
        "in expected_processes: it moves threads that it does not know away from isolated CPUs",
        openshift=f"see the log of TuneD for which; {_POD}",
    )


def _off(view: HostView) -> CheckJudgement:
    read = Reading(_PROCESSES, "tuned runs" if _runs(view) else "no process is named tuned")
    if _runs(view):
        steps = [
            command("systemctl", "disable", "--now", "tuned", openshift=_POD, lasts="for-good")
        ]
        return fail("TuneD runs", read, expected="TuneD off", steps=steps)
    return ok("TuneD is off", read, expected="TuneD off")


def _runs(view: HostView) -> bool:
    return any(each.comm == "tuned" for each in read_processes(view))


CHECK = Check(
    number=30,
    name="tuned-profile",
    group="kernel",
    title="TuneD has the intent's profile active",
    reads=(_ACTIVE, *PROFILE_FILES, PARTITIONING_VARIABLES, *PROCESS_READS),
    commands=(_VERIFY,),
    why=(
        "Most settings here are TuneD's: with another profile active, or TuneD stopped, they "
        "change back at the next boot or were never made. Settings changed by hand since then show "
        "only in its verification."
    ),
    fix="Activate the profile with tuned-adm profile; on OpenShift see the node's Profile object.",
    sources=(
        "tuned-adm(8)",
        "redhat-performance/tuned, profiles/cpu-partitioning",
        "cluster-node-tuning-operator: openshift-node-performance-<name>",
    ),
    rule=_judge,
    without_intent=_without_intent,
)
