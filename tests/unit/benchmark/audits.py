"""Audits as runs keep them, with the findings that a test wants."""

from plimsoll.record.run.audit_record import AuditFinding, AuditRecord, AuditStep
from plimsoll.tune.audit.finding import CheckVerdict, Reading


def finding(number: int, verdict: CheckVerdict, **changed: object) -> AuditFinding:
    found = AuditFinding(
        number=number,
        name=f"check-{number}",
        group="memory",
        title=f"Title of {number}",
        verdict=verdict,
        text=f"{number} was found",
        expected="",
        why="",
        fix="",
        sources=(),
        read=(Reading(where=f"/proc/{number}", what="7"),),
        steps=(AuditStep(text=f"echo 1 > /proc/{number}", kind="command"),),
    )
    return found.model_copy(update=changed)


def audit_of(host: str, *findings: AuditFinding, assumed: str = "") -> AuditRecord:
    return AuditRecord(
        plimsoll="0.1.0",
        role="tester",
        source="this host",
        host=host,
        kernel="6.12.0",
        intent="declared",
        assumed=assumed,
        took_s=0.2,
        findings=findings,
    )
