"""The audit of a host: audit.json of a run, and what `plimsoll tune audit --json` prints.

Its JSON Schema is published as audit.schema.json; docs/tuning-audit.md tells of
its fields.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, computed_field, field_validator, model_validator

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.files.whole_file import read_whole, write_whole
from plimsoll.record.run.listed_files import listed_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.audit.finding import VERDICTS, CheckGroup, CheckVerdict, Reading
from plimsoll.version import VERSION

_REMEDY = (
    "read it with the version of plimsoll that its field plimsoll names, restore it from a copy "
    "of the run, or delete it"
)
# Of another host, by its place in the experiment's observe.hosts.
_NUMBERED = re.compile(r"[1-9][0-9]{0,8}\.json")

# Whose host it is in a run: the tester's own, or another that was observed during trials.
HostRole = Literal["tester", "observed"]


class _Part(RecordModel):
    # Readers of the document may rely on every field, those with a default too.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


# Beside Step, which also has what a choice of steps rests on.
class AuditStep(_Part):
    """One step of a remedy: a command for a root shell, or advice."""

    text: str = Field(description="The command or the advice.")
    kind: Literal["command", "advice"] = Field(
        description="command: for a root shell; else advice."
    )


# Beside CheckFinding, whose steps still have what fits them to a host.
class AuditFinding(_Part):
    """What one check found."""

    number: int = Field(description="The check's number.")
    name: str = Field(description="The check's name.")
    group: CheckGroup = Field(description="The group it belongs to.")
    title: str = Field(description="What it checks.")
    verdict: CheckVerdict = Field(
        description="Whether the host is as intended, or why that is not known."
    )
    text: str = Field(description="What was found, as a sentence.")
    expected: str = Field(description="What the intent asks for.")
    read: tuple[Reading, ...] = Field(description="What was read on the host.")
    steps: tuple[AuditStep, ...] = Field(description="The remedy, step by step.")
    why: str = Field(description="Why it matters.")
    fix: str = Field(description="How to set it right.")
    sources: tuple[str, ...] = Field(description="Who says so.")


class AuditChange(_Part):
    """A session that resumed the run found other verdicts than before."""

    time_ns: int = Field(description="When: UTC, in ns since 1970.")
    verdicts: dict[str, tuple[CheckVerdict, CheckVerdict]] = Field(
        description="By the check's name, the verdict before and then."
    )


class AuditRecord(_Part):
    """What was found on one host, by number; `took_s` is how long the caller waited, in seconds.

    `role` is null outside of a run. `source` is where it was read: "this host",
    "ssh://root@dut", a capture. `host` and `kernel` are the names that it gives itself, null
    where unread; in a run, `host` is what its metrics call it. `unread` says why it could not
    be audited at all, and there are no findings then.

    `intent` is the name of the intent that it was judged against; `assumed` says where that
    comes from, or why there is none, when none was given. `under_test` are the CPUs under
    test as the kernel lists them: those that the run declares, else those that the intent or
    the kernel's command line isolates; empty where neither says, null outside of a run.
    `changes` are what later sessions of the run found, in order; `findings` stay the first.
    """

    format: Literal["plimsoll-audit"] = Field(
        default="plimsoll-audit", description="What kind of document this is."
    )
    version: Literal[2] = Field(default=2, description="The version of the document's format.")
    plimsoll: str = Field(description="The version of plimsoll that wrote it.")
    role: HostRole | None = Field(
        description="tester, or observed for another host; null outside of a run."
    )
    source: str = Field(description="Where the host was read: this host, over ssh, from a capture.")
    host: str | None = Field(description="The host's name; null if it could not be read.")
    kernel: str | None = Field(description="Its kernel's release; null if it could not be read.")
    intent: str | None = Field(
        description="The name of the intent that it was judged by; null without an intent."
    )
    assumed: str = Field(
        description="Where an intent that was not given comes from, or why there is none."
    )
    under_test: str | None = Field(
        default=None,
        description="The CPUs under test as the kernel lists them; empty where unknown.",
    )
    unread: str = Field(
        default="", description="Why the host could not be audited at all; null if it was audited."
    )
    took_s: float = Field(description="How long it took, in s.")
    findings: tuple[AuditFinding, ...] = Field(description="One entry for each check.")
    changes: tuple[AuditChange, ...] = Field(
        default=(), description="What later sessions of the run found otherwise."
    )

    @classmethod
    def of(cls, audit: Audit, took_s: float) -> Self:
        """An audit outside of a run."""
        return cls.model_validate(
            {
                "plimsoll": VERSION,
                "role": None,
                "source": audit.source,
                "host": audit.host,
                "kernel": audit.kernel,
                "intent": audit.intent,
                "assumed": audit.assumed,
                "took_s": round(took_s, 3),
                "findings": audit.findings,
            }
        )

    @classmethod
    def not_audited(cls, role: HostRole, source: str, host: str | None, why: str) -> Self:
        """A host of a run of which nothing could be read."""
        return cls(
            plimsoll=VERSION,
            role=role,
            source=source,
            host=host,
            kernel=None,
            intent=None,
            assumed="",
            under_test="",
            unread=why,
            took_s=0,
            findings=(),
        )

    # mypy knows no decorator upon a property.
    @computed_field  # type: ignore[prop-decorator]
    @property
    def counts(self) -> dict[CheckVerdict, int]:
        """How many findings have each verdict, the worst first; all verdicts are there."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def last_verdicts(self) -> dict[str, CheckVerdict]:
        """By the check's name, as the last session of the run found it."""
        last = {finding.name: finding.verdict for finding in self.findings}
        for change in self.changes:
            last |= {name: now for name, (_, now) in change.verdicts.items()}
        return last

    @model_validator(mode="before")
    @classmethod
    def _counts_follow_from_findings(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if name != "counts"}
        return given

    @field_validator("under_test")
    @classmethod
    def _is_a_list_of_cpus(cls, listed: str | None) -> str | None:
        try:
            parse_cpu_list(listed or "0")
        except InputError as error:
            raise ValueError(error.message) from None
        return listed

    @property
    def text(self) -> str:
        """The document."""
        return self.model_dump_json(indent=1) + "\n"

    def write(self, path: Path) -> None:
        """Write it to `path`, whose folder is made if need be. Raises RecordError."""
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise write_failed(path, error) from error
        write_whole(path, self.text)


def load_audit(path: Path) -> AuditRecord | None:
    """The audit at `path`; None where the run has none. Raises RecordError."""
    return read_whole(path, AuditRecord, _REMEDY)


def read_audits(run: RunDirectory) -> tuple[AuditRecord, ...]:
    """The audits of all hosts of a run: the tester's first, others in the experiment's order.

    One that could not be audited is there too, and says why (`unread`). Empty in simulated
    runs. Raises RecordError.
    """
    paths = (run.audit, *_numbered(run))
    return tuple(audit for path in paths if (audit := load_audit(path)) is not None)


def _numbered(run: RunDirectory) -> list[Path]:
    if not run.observed_audits.is_dir():
        return []
    found = [p for p in listed_in(run, run.observed_audits) if _NUMBERED.fullmatch(p.name)]
    return sorted(found, key=lambda path: int(path.stem))
