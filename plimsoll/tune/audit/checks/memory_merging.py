"""22: whether the kernel makes huge pages by itself, or merges equal ones."""

from __future__ import annotations

import re

from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import node_tuned, tuned_patch
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number
from plimsoll.tune.intent.intent import Intent

_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_KSM = "/sys/kernel/mm/ksm/run"
# The pages that stand for several equal ones.
_SHARED = "/sys/kernel/mm/ksm/pages_shared"
_CHOSEN = re.compile(r"\[(\w+)\]")
# 0 stops ksmd and leaves merged what it has merged, so that a write still faults.
_RUNS, _UNMERGE = "1", "2"
_KSM_BY_TUNED = node_tuned("KSM off (its parent, cpu-partitioning)")
_SERVICES = "disable the services ksm and ksmtuned where there are any: they start it again"


def _thp(view: HostView, intent: Intent) -> CheckJudgement:
    """Left out, OpenShift's profile says never; elsewhere nothing does."""
    expected_on = intent.services.thp
    if expected_on is None and intent.platform == "openshift":
        expected_on = False
    if expected_on is None:
        return not_applicable("the intent does not say whether THP should be on")
    text = view.find(_THP)
    expected = "transparent hugepages on" if expected_on else "transparent hugepages never"
    if text is None:
        say = warn if expected_on else ok
        message = "the kernel has no transparent hugepages"
        return say(message, Reading(_THP, "absent"), expected=expected)
    chosen = _CHOSEN.search(text)
    mode = chosen[1] if chosen else text
    read = Reading(_THP, text)
    if expected_on == (mode != "never"):
        return ok(f"transparent hugepages: {mode}", read, expected=expected)
    if expected_on:
        steps = [_set_thp(intent, "madvise")]
        return warn("transparent hugepages are off", read, expected=expected, steps=steps)
    steps = [_set_thp(intent, "never")]
    if mode == "madvise":
        message = "transparent hugepages are made for programs that ask (madvise)"
        return warn(message, read, expected=expected, steps=steps)
    message = "transparent hugepages are made for all programs: khugepaged stops them to do so"
    return fail(message, read, expected=expected, steps=steps)


def _set_thp(intent: Intent, mode: str) -> Step:
    if intent.services.thp is None:
        return write(_THP, mode, openshift=node_tuned(f"transparent_hugepages={mode}"))
    line = f"transparent_hugepages={'always' if intent.services.thp else 'never'}"
    return write(_THP, mode, openshift=tuned_patch("vm", line))


def _ksm(view: HostView, intent: Intent) -> CheckJudgement:
    """Left out, it is OpenShift's parent profile (cpu-partitioning) that turns it off."""
    expected_on = intent.services.ksm
    if expected_on is None and intent.platform == "openshift":
        expected_on = False
    if expected_on is None:
        return not_applicable("the intent does not say whether KSM should be on")
    value = view.find(_KSM)
    if expected_on:
        message = "on" if value == _RUNS else "off"
        say = ok if value == _RUNS else warn
        return say(f"KSM is {message}", Reading(_KSM, value or "absent"), expected="KSM on")
    if value is None:
        return ok("the kernel merges no pages", Reading(_KSM, "absent"), expected="KSM off")
    if value != _RUNS:
        return _stopped(view, value)
    return fail(
        "KSM is on: ksmd compares pages, and a write to a merged one faults",
        Reading(_KSM, value),
        expected="KSM off",
        steps=[_unmerge(), advice(_SERVICES, openshift=_KSM_BY_TUNED)],
    )


def _stopped(view: HostView, run: str) -> CheckJudgement:
    """Pages that were merged before stay so until 2 is written; captures of old do not tell."""
    shared = whole_number(view.read(_SHARED)) or 0
    if run == _UNMERGE or not shared:
        return ok("KSM is off", Reading(_KSM, run), expected="KSM off")
    return warn(
        f"KSM is stopped, and leaves {counted(shared, 'page')} merged: a write to one faults",
        Reading(_KSM, run),
        Reading(_SHARED, str(shared)),
        expected="KSM off, and no page merged",
        steps=[_unmerge()],
    )


def _unmerge() -> Step:
    takes = "each page that was merged takes memory of its own again: see free -h"
    return write(_KSM, _UNMERGE, openshift=_KSM_BY_TUNED, takes=takes)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return worst_of((_thp(view, intent), _ksm(view, intent)))


CHECK = Check(
    number=22,
    name="memory-merging",
    group="kernel",
    title="Transparent hugepages and page merging are off",
    reads=(_THP, _KSM, _SHARED),
    why=(
        "khugepaged moves a program's pages together, and ksmd shares equal ones: both change "
        "mappings of running programs, which takes their locks and interrupts all their CPUs to "
        "flush their TLBs."
    ),
    fix=(
        "Boot with transparent_hugepage=never, or let TuneD set it; write 2 to "
        "/sys/kernel/mm/ksm/run, which stops ksmd and divides again what it merged (0 only stops "
        "it), and disable the services ksm and ksmtuned, which would start it again."
    ),
    sources=(
        "Linux, Documentation/admin-guide/mm/transhuge.rst, ksm.rst",
        "TuneD, profile network-latency: transparent_hugepages=never",
        "TuneD, profile cpu-partitioning: disable_ksm",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)
