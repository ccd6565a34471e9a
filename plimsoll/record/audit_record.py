"""The audit of the host as a run found it: audit.json.

Why each check matters and how to set it right is in docs/tuning.md, by the check's number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from plimsoll.record.record_model import RecordModel
from plimsoll.record.whole_file import read_whole, write_whole
from plimsoll.tune.audit.finding import Group, Verdict


class AuditReading(RecordModel):
    """`where`, a path or command, said `what`."""

    where: str
    what: str


class AuditStep(RecordModel):
    """One step of a remedy: a command for a root shell, or advice."""

    text: str
    kind: Literal["command", "advice"]


class AuditFinding(RecordModel):
    """What one check found."""

    number: int
    name: str
    group: Group
    title: str
    verdict: Verdict
    text: str
    wanted: str
    read: tuple[AuditReading, ...]
    steps: tuple[AuditStep, ...]


class AuditRecord(RecordModel):
    """All findings by number. `took_s` is how long the audit took, in seconds.

    `intent` is the name of the intent that it was judged against; `assumed` says where that
    comes from, or why there is none, when the experiment names none.
    """

    host: str | None
    kernel: str | None
    intent: str | None
    assumed: str
    took_s: float
    findings: tuple[AuditFinding, ...]

    def write(self, path: Path) -> None:
        """Write audit.json. Raises RecordError."""
        write_whole(path, self.model_dump_json(indent=1) + "\n")


def load_audit(path: Path) -> AuditRecord | None:
    """The audit at `path`; None where the run has none. Raises RecordError."""
    return read_whole(path, AuditRecord, "restore it from a copy of the run, or delete it")
