"""How the hosts were tuned, by their audits at the run's start and by what happened in trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from plimsoll.record.results.result import read_result
from plimsoll.record.run.audit_record import AuditChange, AuditFinding, AuditRecord, read_audits
from plimsoll.record.run.environment import ObservedHostRecord, load_environment
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.one_host import ObservedTrial, observed_host_figures, only_trial, role_of
from plimsoll.report.data.run_data import focus_trial
from plimsoll.report.data.trial_series import trial_words
from plimsoll.report.figures.table import (
    Cell,
    ReportTable,
    Row,
    Unfolded,
    filed,
    number,
    sentence,
    text,
)
from plimsoll.report.tuning.tuning_during_run import Happening, joined
from plimsoll.text.plain_text import slug
from plimsoll.tune.audit.finding import VERDICTS, CheckVerdict

_WRONG: frozenset[CheckVerdict] = frozenset({"fail", "warn"})


@dataclass(frozen=True, slots=True)
class HostTuning:
    """One host. `counts` has joint verdicts and how many checks have each.

    `role` is what ran on it; `against` says what was expected, or why nothing could be read,
    and then there are no checks. `changes` are sentences, one for each later session of the run
    that found other verdicts. The checks stand apart by how much they matter: of the `seen`
    counters moved while frames were sent, `settings` differ from what is expected and nothing
    was seen of it, `others` are as expected, unknown or do not apply.
    """

    host: str
    role: str
    counts: tuple[tuple[CheckVerdict, int], ...]
    against: str
    changes: tuple[str, ...]
    seen: ReportTable
    settings: ReportTable
    others: ReportTable

    @property
    def failed(self) -> int:
        """How many checks fail."""
        return dict(self.counts).get("fail", 0)


@dataclass(frozen=True, slots=True)
class TuningSection:
    """Each audited host, the tester first; none in runs that were not audited.

    `trials` says in which things happened; "" before any.
    """

    hosts: tuple[HostTuning, ...]
    trials: str


def tuning_section(audits: Sequence[AuditRecord], trials: Sequence[ObservedTrial]) -> TuningSection:
    """The section of a page about these trials. Raises RecordError."""
    observed = {host.hostname: host for each in trials for host in each.metrics.hosts}
    return TuningSection(
        hosts=tuple(_host(audit, observed.get(audit.host or ""), trials) for audit in audits),
        trials=_hosts_text(trials),
    )


def _host(
    audit: AuditRecord, observed: ObservedHostRecord | None, trials: Sequence[ObservedTrial]
) -> HostTuning:
    found = worst_of_trials(audit, trials)
    times = Counter(each.verdict for each in found)
    name = slug(f"tuning {audit.host or audit.source}")
    return HostTuning(
        host=audit.host or audit.source,
        role=(role_of(observed) if observed else "") or audit.role or "",
        counts=tuple((verdict, times[verdict]) for verdict in VERDICTS if times[verdict]),
        against=_against(audit),
        changes=tuple(_changed(audit, change) for change in audit.changes),
        seen=_table(f"{name}-seen", (each for each in found if each.did_harm)),
        settings=_table(
            f"{name}-settings", (each for each in found if each.wrong and not each.did_harm)
        ),
        others=_table(f"{name}-others", (each for each in found if not each.wrong)),
    )


def _table(name: str, found: Iterable[WorstFinding]) -> ReportTable:
    """Each check with what was found at the start, what happened, and the verdict of both."""
    columns = (
        number("check", "#", str),
        text("verdict", "Verdict"),
        sentence("title", "Check"),
        filed("verdict_at_start"),
        sentence("found_at_start", "At the start"),
        sentence("happened", "While frames were sent", missing="-"),
        filed("why"),
        filed("remedy"),
        filed("read"),
    )
    return ReportTable(name, columns, tuple(_row(each) for each in found), "Checks", style="checks")


def _row(found: WorstFinding) -> Row:
    static, happened = found.static, found.happened
    in_trial = f"{found.answers}: " if found.answers else ""
    read = tuple(f"{each.where}: {each.what}" for each in static.read)
    return Row(
        (
            static.number,
            Cell((found.verdict,), found.verdict.replace("-", " "), mark=found.verdict),
            static.title,
            static.verdict,
            # Where nothing happened that says otherwise, it is the verdict that stands already.
            Cell((static.text,), mark=static.verdict if static.verdict != found.verdict else ""),
            f"{in_trial}{happened.text}" if happened else None,
            static.why,
            "; ".join(step.text for step in static.steps),
            "; ".join(read),
        ),
        unfolds=_unfolded(static),
    )


def _unfolded(static: AuditFinding) -> Unfolded | None:
    """Why it matters (empty in older runs), the remedy's steps, and where what was read."""
    parts = ["why"] * bool(static.why) + ["what to do"] * bool(static.steps)
    lines = (
        *([("", static.why)] if static.why else []),
        *((step.text, "") if step.kind == "command" else ("", step.text) for step in static.steps),
        *((each.where, each.what) for each in static.read),
    )
    title = ", ".join(parts).capitalize() or "What was read"
    return Unfolded(title, lines) if lines else None


def _hosts_text(trials: Sequence[ObservedTrial]) -> str:
    if len(trials) < 2:
        return "".join(trial_words(each.trial) for each in trials)
    named = ", ".join(f"{each.trial.number} ({each.answers})" for each in trials)
    return f"trials {named}; where these differ, the first of the worst is shown"


def _changed(audit: AuditRecord, change: AuditChange) -> str:
    numbers = {finding.name: finding.number for finding in audit.findings}
    found = ", ".join(
        f"{numbers[name]} {name} {before} → {then}"
        for name, (before, then) in change.verdicts.items()
        if name in numbers
    )
    moment = datetime.fromtimestamp(change.time_ns // 10**9, UTC)
    return (
        f"When the run went on at {moment:%Y-%m-%d %H:%M} UTC, these verdicts had changed: {found}."
    )


def _against(audit: AuditRecord) -> str:
    if audit.unread:
        return f"It could not be audited: {audit.unread}."
    text = audit.assumed or f"judged by the intent {audit.intent} that the experiment names"
    return f"Kernel {audit.kernel or 'unknown'}; {text}."


# What the audit of a host found, joined with what happened in the worst of several trials.
@dataclass(frozen=True, slots=True)
class WorstFinding:
    """A check's finding, what happened in one trial (None: not known), and both's verdict.

    `answers` names the trial where others differ.
    """

    static: AuditFinding
    happened: Happening | None
    verdict: CheckVerdict
    answers: str = ""

    @property
    def wrong(self) -> bool:
        """Whether it is not as expected."""
        return self.verdict in _WRONG

    @property
    def did_harm(self) -> bool:
        """Whether it is not as expected, and counters show it while frames were sent."""
        return self.wrong and self.happened is not None and self.happened.verdict in _WRONG


def worst_of_trials(
    audit: AuditRecord, trials: Sequence[ObservedTrial]
) -> tuple[WorstFinding, ...]:
    """Every check once: the worst verdict first, and of those what did harm.

    Only what happened on the audited host counts. Raises RecordError for metrics that are
    damaged.
    """
    by_check: dict[tuple[int, str], list[WorstFinding]] = {}
    for found in _of_all(audit, trials):
        by_check.setdefault((found.static.number, found.static.name), []).append(found)
    return tuple(sorted(map(_worst, by_check.values()), key=_order))


def _of_all(audit: AuditRecord, trials: Sequence[ObservedTrial]) -> Iterable[WorstFinding]:
    if not trials:
        for each in joined(audit, None, None):
            yield WorstFinding(each.static, each.happened, each.verdict)
    for trial in trials:
        for each in joined(audit, trial.metrics, trial.trial):
            yield WorstFinding(each.static, each.happened, each.verdict, trial.answers)


def _worst(of_check: Sequence[WorstFinding]) -> WorstFinding:
    """The first of the worst, unnamed where all trials agree."""
    worst = min(of_check, key=_badness)
    texts = {each.happened.text if each.happened else "" for each in of_check}
    return worst if len(texts) > 1 else replace(worst, answers="")


def _badness(each: WorstFinding) -> tuple[int, int]:
    """The lower the worse; a trial without observations is named last."""
    seen = VERDICTS.index(each.happened.verdict) if each.happened else len(VERDICTS)
    return VERDICTS.index(each.verdict), seen


def _order(each: WorstFinding) -> tuple[int, bool, int]:
    return VERDICTS.index(each.verdict), not each.did_harm, each.static.number


# How the hosts of a load line's run were tuned, without all else that its page shows.
def tuning_of_run(run: RunDirectory) -> TuningSection:
    """As the run's own page has it; empty where it was not audited. Raises RecordError."""
    audits = read_audits(run)
    if not audits:
        return tuning_section((), ())
    focus = focus_trial(read_journal(run.journal).trials(), read_result(run))
    environment = load_environment(run.environment)
    hosts = observed_host_figures(run, environment, focus) if focus else None
    return tuning_section(audits, only_trial(focus, hosts))
