"""The audit of this host at a run's start: what it was judged against, and what was found."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.audit_record import AuditRecord
from plimsoll.tune.audit.assumed_intent import assume_intent
from plimsoll.tune.audit.audit import Audit, audit
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.live_host import LiveHost
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.proposal import propose_intent
from plimsoll.tune.intent.survey import survey_host

# What a proposal sizes by guess, and nobody asked for: no run is judged by it.
_NOT_JUDGED = ("hugepages", "nics", "networks", "pods")


def write_host_audit(
    path: Path, declared: Intent | None, tested: frozenset[int], tell: Callable[[str], None]
) -> None:
    """Audit this host and write what was found to `path`.

    `tested` are the CPUs under test. Whatever goes wrong is told and costs no run: an audit
    reads files that drivers and container runtimes write as they please.
    """
    try:
        began = time.monotonic()
        view = LiveHost()
        intent, assumed = (declared, "") if declared else derived_intent(view, tested)
        record_of(audit(view, intent, assumed=assumed), time.monotonic() - began).write(path)
    except Exception as error:
        tell(f"The host was not audited: {error}")


def record_of(done: Audit, took_s: float) -> AuditRecord:
    """An audit as the run keeps it."""
    return AuditRecord.model_validate(
        {
            "host": done.host,
            "kernel": done.kernel,
            "intent": done.intent,
            "assumed": done.assumed,
            "took_s": round(took_s, 3),
            "findings": done.findings,
        }
    )


def derived_intent(view: HostView, tested: frozenset[int]) -> tuple[Intent | None, str]:
    """What the host seems meant for, and where that comes from; or None, and why.

    Its command line says; else it is the settings that `plimsoll tune init` proposes, with
    the CPUs under test isolated where that leaves others.
    """
    assumed, source = assume_intent(view)
    if assumed is not None:
        return assumed, source
    try:
        survey = survey_host()
        proposed = propose_intent(survey)
    except PlimsollError as error:
        return None, f"no intent is given, and none can be proposed: {error}"
    data: dict[str, Any] = proposed.intent.model_dump(mode="json", exclude_unset=True)
    data = {name: value for name, value in data.items() if name not in _NOT_JUDGED}
    online = survey.topology.online
    if tested & online and online - tested:
        data["cpus"] |= {
            "reserved": format_cpu_list(online - tested),
            "isolated": format_cpu_list(tested & online),
        }
    intent = Intent.model_validate(data)
    return intent, (
        f"the experiment names no intent (tuning:) and the kernel isolates no CPU; judged by the "
        f"settings of the preset {proposed.preset}, CPUs {intent.cpus.isolated} isolated and "
        f"{intent.cpus.reserved} reserved"
    )
