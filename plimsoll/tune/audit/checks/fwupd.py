"""17: the timer that looks for new firmware."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    command,
    fail,
    not_applicable,
    ok,
    warn,
)
from plimsoll.tune.audit.setting import tuned_patch
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.expected.tuned import expected_units, intent_units
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_UNIT = "fwupd-refresh.timer"
_UNIT_FILES = (f"/usr/lib/systemd/system/{_UNIT}", f"/etc/systemd/system/{_UNIT}")
_ACTIVE = f"systemctl is-active {_UNIT}"
_ENABLED = f"systemctl is-enabled {_UNIT}"
_EXPECTED = f"{_UNIT} off"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if expected_units(intent).get(_UNIT) is not False:
        return not_applicable("the intent does not turn it off (services.fwupd)")
    if not any(view.find(path) is not None for path in _UNIT_FILES):
        absent = (Reading(path, "absent") for path in _UNIT_FILES)
        return ok("the timer is not installed", *absent, expected=_EXPECTED)
    active = view.need_command(_ACTIVE)
    read = Reading(_ACTIVE, active.text)
    stop = command(
        "systemctl",
        "disable",
        "--now",
        _UNIT,
        openshift=tuned_patch("service", f"service.{_UNIT}=stop,disable"),
        lasts="for-good",
    )
    if active.status == 0:
        # Unasked the operator turns it off too, but only since OpenShift 4.23 and 5.0.
        judged = fail if _UNIT in intent_units(intent) else warn
        return judged("the timer runs", read, expected=_EXPECTED, steps=[stop])
    enabled = view.need_command(_ENABLED)
    read_enabled = Reading(_ENABLED, enabled.text)
    if enabled.text == "enabled":
        return warn(
            "it is off now, and comes back at the next boot",
            read,
            read_enabled,
            expected=_EXPECTED,
            steps=[stop],
        )
    return ok("the timer is off", read, read_enabled, expected=_EXPECTED)


CHECK = Check(
    number=17,
    name="fwupd",
    group="power",
    title="Nothing looks for new firmware during a run",
    reads=_UNIT_FILES,
    commands=("systemctl is-active <service>", "systemctl is-enabled <service>"),
    why=(
        "The refresh asks devices for their firmware's version, which on some means SMIs or a "
        "stalled bus; the Node Tuning Operator turns it off for that reason."
    ),
    fix="systemctl disable --now fwupd-refresh.timer",
    sources=("cluster-node-tuning-operator, its rendered tuned profile: [service]",),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)
