"""The audits of a run: of the tester's host and of every other that is observed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.benchmark.session.session import Session
from plimsoll.benchmark.testbed.testbed import Testbed
from plimsoll.benchmark.whole_run.host_audit import audit_host
from plimsoll.errors import PlimsollError
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.audit_record import AuditChange, AuditRecord, HostRole, load_audit
from plimsoll.tune.audit.finding import CheckVerdict
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.intent.intent import Intent

_CHANGED = "tuning-changed"


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
            f"{host.label} is no longer as this run's last session audited it: {listed}"
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
