"""An audit: every check of one host, against one intent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from plimsoll.tune.audit import checks
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import VERDICTS, CheckFinding, CheckVerdict
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, by number."""
    names = (module.name for module in iter_modules(checks.__path__))
    found: list[Check] = [import_module(f"{checks.__name__}.{name}").CHECK for name in names]
    return tuple(sorted(found, key=lambda check: check.number))


@dataclass(frozen=True, slots=True)
class Audit:
    """`host` and `kernel` are the names that the host gives itself, None where unread.

    `intent` is the name of the intent; `assumed` says where it comes from, or why there is
    none, when none was given. Findings are by number.
    """

    source: str
    host: str | None
    kernel: str | None
    intent: str | None
    assumed: str
    findings: tuple[CheckFinding, ...]

    @property
    def counts(self) -> dict[CheckVerdict, int]:
        """How many findings have each verdict, the worst first; all verdicts are there."""
        found = Counter(finding.verdict for finding in self.findings)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def by_severity(self) -> tuple[CheckFinding, ...]:
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
    selected = all_checks() if checks is None else checks
    findings = tuple(check.judge(view, intent, assumed) for check in selected)
    return _audit(view, intent, assumed, findings)


def look(view: HostView, intent: Intent | None, assumed: str) -> Audit:
    """What there is to see of a host without an intent.

    `intent` is what was assumed of it, None where nothing could be, and `assumed` says so. Where
    that does not say, what no dataplane wants is warned of, and of all else what was read is in
    the findings that do not apply. Raises nothing for what cannot be read.
    """
    findings = tuple(_looked(check, view, intent, assumed) for check in all_checks())
    return _audit(view, intent, assumed, findings)


def _looked(check: Check, view: HostView, intent: Intent | None, assumed: str) -> CheckFinding:
    if intent is not None:
        found = check.judge(view, intent, assumed)
        if found.verdict != "not-applicable":
            return found
    return check.look(view)


def _audit(
    view: HostView, intent: Intent | None, assumed: str, findings: tuple[CheckFinding, ...]
) -> Audit:
    return Audit(
        source=view.where,
        host=view.read("/proc/sys/kernel/hostname"),
        kernel=view.read("/proc/sys/kernel/osrelease"),
        intent=intent.name if intent else None,
        assumed=assumed,
        findings=findings,
    )
