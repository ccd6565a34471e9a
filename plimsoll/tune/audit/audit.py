"""An audit: every check, asked of one host against one intent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import VERDICTS, Finding, Verdict
from plimsoll.tune.audit.registry import all_checks
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.intent.intent import Intent


@dataclass(frozen=True, slots=True)
class Audit:
    """`host` and `kernel` are the names that the host gives itself, None where unread.

    `intent` is the name of the intent; `assumed` says where it comes from, or why there is
    none, when nobody gave one. Findings are by number.
    """

    source: str
    host: str | None
    kernel: str | None
    intent: str | None
    assumed: str
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many findings have each verdict, the worst first; all verdicts are there."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def by_severity(self) -> tuple[Finding, ...]:
        """The worst first; of the same verdict by number."""
        return tuple(sorted(self.findings, key=lambda f: (VERDICTS.index(f.verdict), f.number)))


def audit(
    view: HostView,
    intent: Intent | None,
    *,
    assumed: str = "",
    checks: Sequence[Check] | None = None,
) -> Audit:
    """Ask `checks`, by default all there are. Raises nothing for what cannot be read."""
    asked = all_checks() if checks is None else checks
    return Audit(
        source=view.where,
        host=view.read("/proc/sys/kernel/hostname"),
        kernel=view.read("/proc/sys/kernel/osrelease"),
        intent=intent.name if intent else None,
        assumed=assumed,
        findings=tuple(check.judge(view, intent, assumed) for check in asked),
    )
