"""The audit of one host of a run: what it was judged against, and what was found."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.run.audit_record import AuditRecord, HostRole
from plimsoll.tune.audit.assumed_intent import assume_intent
from plimsoll.tune.audit.audit import audit
from plimsoll.tune.fit.topology import read_topology
from plimsoll.tune.host.boot.virtual_machine import is_virtual_machine
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.proposal.proposal import propose_intent
from plimsoll.tune.proposal.survey import Survey

# What a proposal sizes by guess, without a request for it: no run is judged by it.
_NOT_JUDGED = ("hugepages", "nics", "networks", "pods")


@dataclass(frozen=True, slots=True)
class JudgedIntent:
    """What a host is judged by: an intent, or None; where it comes from, or why there is none.

    `assumed` is empty where the experiment declares the intent. `tested` are the CPUs under
    test: those that the run declares, else those that the host isolates.
    """

    intent: Intent | None
    assumed: str
    tested: frozenset[int]


def audit_host(
    view: HostView,
    role: HostRole,
    declared: Intent | None,
    tested: frozenset[int],
    name: str | None = None,
    *,
    began_s: float | None = None,
) -> AuditRecord:
    """Audit a host, of which the run declares an intent, or None, and the CPUs under test.

    `name` is what the run's metrics call it; `began_s` when the caller began to wait for it, by
    the monotonic clock, where that is not now. Raises nothing for what cannot be read.
    """
    began = time.monotonic() if began_s is None else began_s
    judged = choose_intent(view, declared, tested)
    done = audit(view, judged.intent, assumed=judged.assumed)
    record = AuditRecord.of(done, time.monotonic() - began)
    return record.model_copy(
        update={
            "role": role,
            "host": name or record.host,
            "under_test": format_cpu_list(judged.tested),
        }
    )


def choose_intent(view: HostView, declared: Intent | None, tested: frozenset[int]) -> JudgedIntent:
    """What is `declared`; else what the host's kernel says; else what would be proposed.

    That is the settings that `plimsoll tune init` proposes, with the CPUs under test isolated
    where that leaves others. Which CPUs are under test is never taken from a proposal.
    """
    if declared is not None:
        return JudgedIntent(declared, "", tested or declared.cpus.isolated.cpus)
    assumed, source = assume_intent(view)
    if assumed is not None:
        return JudgedIntent(assumed, source, tested or assumed.cpus.isolated.cpus)
    try:
        intent, source = _proposed(view, tested)
    except PlimsollError as error:
        return JudgedIntent(None, f"no intent is given, and none can be proposed: {error}", tested)
    return JudgedIntent(intent, source, tested)


def _proposed(view: HostView, tested: frozenset[int]) -> tuple[Intent, str]:
    """Raises MachineError where the host has nothing to isolate, or its CPUs are unread."""
    survey = _survey(view)
    proposed = propose_intent(survey)
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
        f"the experiment names no intent for this host (tuning:) and the kernel isolates no CPU; "
        f"judged by the settings of the preset {proposed.preset}, CPUs {intent.cpus.isolated} "
        f"isolated and {intent.cpus.reserved} reserved"
    )


def _survey(view: HostView) -> Survey:
    """What a proposal needs to know for the part of it that is judged."""
    try:
        virtual = is_virtual_machine(view)
    except CannotRead:
        virtual = False
    return Survey(read_topology(view.read), ports=(), page_sizes=frozenset(), virtual=virtual)
