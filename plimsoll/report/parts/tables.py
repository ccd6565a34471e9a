"""The tables of several pages: all trials, facts that differ; and the environment's lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plimsoll.analysis.comparison.changes import Change
from plimsoll.record.run.environment import Environment
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.times import slowest_cell
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    Row,
    ns_between,
    pps,
    ratio,
    seconds,
    sentence,
    text,
    verdict_cell,
)
from plimsoll.text.counted import counted
from plimsoll.text.plain_text import slug

_KIB_PER_GIB = 2**20


_COLUMNS = (
    ReportColumn(("trial",), "Trial"),
    text("phase", "Phase"),
    pps("load_pps", "Intended per direction"),
    pps("offered_pps", "Offered"),
    seconds("sending_s", "Length"),
    text("verdict", "Verdict"),
    ratio("loss_ratio", "Loss ratio"),
    ns_between("p99_ns", "p99"),
    sentence("reason", "Reason"),
)


def trial_table(
    journal: JournalContents, details: Iterable[int] = (), marked: int | None = None
) -> ReportTable:
    """All trials by number, finished and cut short.

    Those in `details` link to theirs; `marked` is the one that proves the answer.
    """
    linked = frozenset(details)
    rows = {trial.number: trial_cells(trial) for trial in journal.trials()}
    for event in journal.unfinished_trials():
        number, load = event.fields.get("number"), event.fields.get("load_pps")
        if isinstance(number, int) and isinstance(load, int | float):
            rows[number] = _unfinished(number, str(event.fields.get("phase", "")), load)
    return ReportTable(
        "trials",
        _COLUMNS,
        tuple(
            Row(
                (
                    Cell((number,), links=((str(number), f"#trial-{number}"),))
                    if number in linked
                    else number,
                    *cells[1:],
                ),
                style="proof" if number == marked else "",
            )
            for number, cells in sorted(rows.items())
        ),
        "All trials",
    )


def trial_words(trial: TrialRecord) -> dict[str, str]:
    """One that has ended, for people: by the names of the table's columns."""
    names = [column.names[-1] for column in _COLUMNS]
    row = ReportTable("trials", _COLUMNS, (trial_cells(trial),)).words()[1][0]
    return dict(zip(names, row, strict=True))


def _unfinished(number: int, phase: str, load_pps: float) -> Cells:
    verdict = verdict_cell("unfinished")
    of_time = Cell((None, None))
    return (
        *(number, phase, load_pps, None, None, verdict, None, of_time),
        "started, and not ended",
    )


def environment_lines(environment: Environment | None) -> tuple[tuple[str, str], ...]:
    """Name and value of each fact; unknown ones say so."""
    if environment is None:
        return ()
    e = environment
    facts: list[tuple[str, str | None]] = [
        ("Host", e.host),
        ("Kernel", e.kernel),
        ("Kernel version", e.kernel_version),
        ("Kernel command line", e.cmdline),
        ("CPU", e.cpu_model),
        ("CPUs online", e.cpus_online),
        ("CPUs isolated", _list(e.cpus_isolated)),
        ("CPUs nohz_full", _list(e.cpus_nohz_full)),
        ("CPUs allowed", e.cpus_allowed),
        ("SMT", None if e.smt_active is None else ("on" if e.smt_active else "off")),
        ("NUMA nodes", e.numa_nodes),
        ("Frequency governor", _governors(e)),
        ("Memory", None if e.memory_kib is None else f"{e.memory_kib / _KIB_PER_GIB:.1f} GiB"),
        ("Hugepages", _hugepages(e)),
        ("Clock source", e.clocksource),
        *((f"Version of {name}", version) for name, version in e.versions.items()),
    ]
    return tuple((name, value if value else "unknown") for name, value in facts)


def trial_cells(trial: TrialRecord) -> Cells:
    """The row of one that has ended."""
    probes = [stream for stream in trial.streams if stream.role == "latency"] or trial.streams
    lost = sum(stream.lost for stream in trial.streams)
    offered = sum(stream.lost + stream.received - stream.duplicate for stream in trial.streams)
    return (
        trial.number,
        trial.phase,
        trial.load_pps,
        trial.offered_pps,
        trial.sending_s,
        verdict_cell(trial.verdict),
        lost / offered if offered > 0 else None,
        slowest_cell(probes, "p99_ns"),
        _reason(trial),
    )


def _reason(trial: TrialRecord) -> str:
    """The first; all of them are in what the trial unfolds to."""
    reasons = trial.reasons
    if len(reasons) < 2:
        return "".join(finding.text for finding in reasons)
    return f"{reasons[0].text} (and {len(reasons) - 1} more)"


def _list(text: str | None) -> str | None:
    return "none" if text == "" else text


def _governors(environment: Environment) -> str | None:
    counts = (environment.governors or {}).items()
    return ", ".join(f"{name} on {counted(cpus, 'CPU')}" for name, cpus in counts) or None


def _hugepages(environment: Environment) -> str | None:
    said = (
        f"{pages.total} of {pages.size_kib} KiB, {pages.free} free"
        for pages in environment.hugepages
    )
    return "; ".join(said) or None


def facts_table(labels: Sequence[str], changes: Sequence[Change], title: str) -> ReportTable:
    """Facts that differ, with a column for each of the labels."""
    columns = (sentence("fact", "Fact", code=True), *(sentence(label, label) for label in labels))
    rows = tuple((each.place, *(", ".join(of) for of in each.values)) for each in changes)
    return ReportTable(slug(title), columns, rows, title, style="cards changes")
