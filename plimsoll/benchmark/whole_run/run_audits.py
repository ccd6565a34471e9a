"""What a run's numbers were measured with: its environment, and the audits of its hosts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plimsoll.benchmark.session.session import Session, versions
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.testbed.tester_identity import known_calibrations
from plimsoll.errors import PlimsollError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.audit_record import AuditChange, AuditRecord, HostRole, load_audit
from plimsoll.record.run.environment import read_environment
from plimsoll.record.run.journal import LAB_UP
from plimsoll.tune.audit.audit import audit
from plimsoll.tune.audit.finding import CheckVerdict
from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.fit.topology import read_topology
from plimsoll.tune.host.boot.operating_system import is_virtual_machine
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.proposal.proposal import propose_intent
from plimsoll.tune.proposal.survey import Survey

_CHANGED = "tuning-changed"
# What a proposal sizes by guess, without a request for it: no run is judged by it.
_NOT_JUDGED = ("hugepages", "nics", "networks", "pods")


@dataclass(frozen=True, slots=True)
class _HostToAudit:
    """One host to be audited. `name` is what the run's metrics call it, None where unobserved.

    `label` is its name for people; `view` may wait for it, and raise.
    """

    path: Path
    role: HostRole
    source: str
    label: str
    name: str | None
    declared: Intent | None
    tested: frozenset[int]
    view: Callable[[], HostView]


def record_audits(session: Session, bed: Testbed) -> None:
    """Audit every host of the test bed into the run directory.

    Whatever goes wrong is reported, and recorded, and costs no run: an audit reads files that
    drivers and container runtimes write as they please. A session that goes on with a run
    keeps what the first one found, and tells what has changed since; what could not be
    audited then is audited now.
    """
    for host in _hosts(session, bed):
        try:
            _record(host, session)
        except PlimsollError as error:
            session.listener.note(f"The audit of {host.label} was not recorded: {error}")
    bed.captures.close()


def _hosts(session: Session, bed: Testbed) -> Iterator[_HostToAudit]:
    """The tester's own first, while the others' captures come."""
    run = session.recorder.run
    # In the order of the captures behind the tester's own; none where nothing is observed.
    names = [each.hostname for each in bed.observers.records]
    yield _HostToAudit(
        path=run.audit,
        role="tester",
        source="this host",
        label="this host",
        name=names[0] if names else None,
        declared=session.experiment.tuning,
        tested=frozenset(bed.busy_cpus),
        view=LiveHost,
    )
    for place, (capture, name) in enumerate(
        zip(bed.captures.of_hosts, names[1:], strict=True), start=1
    ):
        yield _HostToAudit(
            path=run.observed_audits / f"{place}.json",
            role="observed",
            source=capture.host.pod or f"ssh://{capture.host.ssh}",
            label=capture.host.name,
            name=name,
            declared=capture.host.tuning,
            tested=frozenset(capture.host.polled_cpus),
            view=capture.view,
        )


def _record(host: _HostToAudit, session: Session) -> None:
    """Raises RecordError."""
    kept, now = _kept(host, session), _audit(host, session)
    session.recorder.wrote(host.path)
    if kept is None:
        now.write(host.path)
    elif changes := _changes(kept, now):
        session.recorder.event(_CHANGED, host=kept.host, verdicts=changes)
        change = AuditChange(time_ns=time.time_ns(), verdicts=changes)
        kept.model_copy(update={"changes": (*kept.changes, change)}).write(host.path)
        listed = ", ".join(
            f"{name} {before} → {after}" for name, (before, after) in changes.items()
        )
        session.listener.note(
            f"{host.label} is no longer as this run's last session found it: {listed}"
        )


def _kept(host: _HostToAudit, session: Session) -> AuditRecord | None:
    """What an earlier session of the run found, if it found anything."""
    try:
        kept = load_audit(host.path)
    except RecordError as error:
        session.listener.note(f"{error}; {host.label} is audited anew")
        return None
    return None if kept is None or kept.unread else kept


def _audit(host: _HostToAudit, session: Session) -> AuditRecord:
    began_s = time.monotonic()
    try:
        return audit_host(
            host.view(), host.role, host.declared, host.tested, host.name, began_s=began_s
        )
    except Exception as error:
        session.listener.note(f"{host.label} was not audited: {error}")
        why = error.message if isinstance(error, PlimsollError) else str(error)
        return AuditRecord.not_audited(host.role, host.source, host.name, why)


def _changes(kept: AuditRecord, now: AuditRecord) -> dict[str, tuple[CheckVerdict, CheckVerdict]]:
    """By check, the verdicts of the last session and now; none of what is unread now."""
    before = kept.last_verdicts
    return {
        each.name: (before[each.name], each.verdict)
        for each in now.findings
        if each.verdict != before.get(each.name, each.verdict)
    }


# The audit of one host of a run: what it was judged against, and what was found.
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


def record_environment(
    session: Session, bed: Testbed, calibration: TesterCalibration | None
) -> None:
    """Write environment.json, with this run's calibration and earlier ones, and the audits.

    The lab is journalled.
    """
    read_environment(
        versions(bed.generator.facts),
        calibration,
        _earlier_calibrations(session, bed),
        bed.observers.records,
    ).write(session.recorder.run.environment)
    if not bed.generator.facts.simulated:
        record_audits(session, bed)
    session.recorder.event(
        LAB_UP,
        kind_of_lab=bed.lab.kind,
        lab=bed.lab.facts(),
        ports=[asdict(port) for port in bed.generator.ports],
        notes=bed.notes,
        resctrl=bed.resctrl.facts,
        engine_pid=bed.generator.facts.pid,
    )


def _earlier_calibrations(session: Session, bed: Testbed) -> tuple[StoredCalibration, ...]:
    """Of this very tester; a damaged one is reported and left out: it spoils no run."""
    if bed.generator.facts.simulated:
        return ()
    try:
        return known_calibrations(
            read_environment({}),
            session.experiment.effective_generator,
            bed.generator.facts,
            bed.generator.ports,
        )
    except RecordError as error:
        session.listener.note(str(error))
        return ()


# What carries the frames, as reports of standard tests tell it.
def media_of(bed: Testbed) -> str:
    """The tester's ports and their line rate."""
    drivers = ", ".join(dict.fromkeys(port.driver for port in bed.generator.ports))
    if bed.line_rate_bps is None:
        return f"{drivers}, without a line rate"
    return f"{drivers} at {bed.line_rate_bps / 1e9:g} Gbps"
