"""The page of a churn run: tables of network and level, and what happened over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from plimsoll.churn.pages.control_plane_tables import (
    apiserver_section,
    etcd_section,
    readiness_section,
    usage_section,
)
from plimsoll.churn.pages.stream_tables import (
    LEVEL,
    NETWORK,
    dip_table,
    level_table,
    pair_table,
    probe_section,
    throughput_figures,
    throughput_table,
)
from plimsoll.churn.results.churn_result import ChurnCell, ChurnResult, WorkloadRecord
from plimsoll.churn.run import notes, recorded_cells, recorded_workloads
from plimsoll.churn.settings import of_record
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import Cell, Cells, ReportColumn, ReportTable, sentence, text
from plimsoll.report.pages.standard.page import anchor_of
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    KeyFigure,
    PageAnswer,
    PageSection,
)
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page
from plimsoll.text.counted import counted

_MAX_KEY_FIGURES = 3
_OUTCOME_WORDS = {"pass": "pass", "fail": "fail", "invalid": "invalid", "none": ""}
_DIPS_EXPLAINED = (
    "A dip is where the throughput of all pairs falls below its median before the churn by the "
    "share and the noise that the experiment names. With churn: dips that touch a cycle. By "
    "chance: the share that would touch one if the cycles lay anywhere else (all circular shifts "
    "over the cell); p: the share of shifts that match at least as many."
)


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    answer = churn_answer(run)
    result = read_run_result(run, ChurnResult)
    sections = tuple((anchor_of(section.title), section) for section in answer.sections)
    kicker, _, rest = answer.heading.partition(": ")
    unfinished = ("This run has not finished: what follows are its results so far.",)
    figures = answer.figures
    drawn = [figure.name for figure in figures if figure.chart is not None]
    return Page(
        template="churn.html.j2",
        headline=Headline(
            kicker=kicker,
            outcome="none" if result is None else result.verdict,
            outcome_words="not ended" if result is None else _OUTCOME_WORDS[result.verdict],
            value=answer.figure.value,
            unit=answer.figure.unit,
            statement=rest,
            facts=answer.figure.facts,
            limit=(*(() if result else unfinished), *answer.sentences),
            warnings=answer.warnings,
            exact=() if result is None else (_versions(result), f"Seed {result.seed}."),
        ),
        contents=tuple((anchor, section.title) for anchor, section in sections),
        figures=figures,
        key_figures=tuple(drawn[:_MAX_KEY_FIGURES]),
        content={"sections": sections},
    )


def _versions(result: ChurnResult) -> str:
    known = (f"{name} {version}" for name, version in result.versions.items() if version)
    return f"Measured with {', '.join(known)}."


# A churn run as its page and the terminal show it: the tables of network and level.
def churn_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, ChurnResult)
    cells = in_rows(result.cells if result else recorded_cells(journal))
    workloads = result.workloads if result else recorded_workloads(journal)
    return PageAnswer(
        heading=_heading(cells),
        sentences=tuple(_sentences(cells, workloads)),
        warnings=notes(of_record(run.read_experiment())),
        sections=tuple(_sections(run, journal, cells, workloads)),
        figure=_figure(cells),
    )


def in_rows(cells: Sequence[ChurnCell]) -> tuple[ChurnCell, ...]:
    """By network in order of first mention, level and repetition, in whatever order they ran."""
    networks = sorted({cell.network for cell in cells})
    return tuple(
        sorted(
            cells, key=lambda each: (networks.index(each.network), each.percent, each.repetition)
        )
    )


def _sections(
    run: RunDirectory,
    journal: JournalContents,
    cells: Sequence[ChurnCell],
    workloads: Sequence[WorkloadRecord],
) -> Iterator[PageSection]:
    if any(cell.streams for cell in cells):
        yield PageSection(
            "Throughput",
            (_DIPS_EXPLAINED,),
            (level_table(cells), throughput_table(cells), dip_table(cells), pair_table(cells)),
            throughput_figures(run, cells),
        )
    if (probed := probe_section(cells)) is not None:
        yield probed
    yield readiness_section(cells, workloads)
    yield apiserver_section(cells)
    yield etcd_section(cells)
    yield usage_section(cells)
    yield _churn_section(cells, workloads)
    if any(cell.findings for cell in cells):
        yield PageSection("Criteria", (), (_findings_table(cells),))


def _heading(cells: Sequence[ChurnCell]) -> str:
    networks = len({cell.network for cell in cells})
    levels = len({cell.percent for cell in cells})
    return f"Churn: {counted(networks, 'network')} at {counted(levels, 'level')} of churn"


def _figure(cells: Sequence[ChurnCell]) -> KeyFigure:
    """The least share of its throughput that a network kept, and that of each other."""
    kept: dict[str, tuple[float, ChurnCell]] = {}
    for cell in cells:
        if cell.streams and cell.percent:
            kept[cell.network] = min(
                kept.get(cell.network, (2.0, cell)), (cell.streams.kept, cell), key=_share
            )
    if not kept:
        return NO_FIGURE
    share, worst = min(kept.values(), key=_share)
    others = [each for each in sorted(kept.values(), key=_share) if each[1] is not worst]
    return KeyFigure(
        f"{100 * share:.1f}",
        "% of throughput kept",
        (
            (worst.label, "where the least was kept"),
            *((f"{100 * each:.1f} %", f"kept, {cell.label}") for each, cell in others),
        ),
    )


def _share(each: tuple[float, ChurnCell]) -> float:
    return each[0]


def _sentences(cells: Sequence[ChurnCell], workloads: Sequence[WorkloadRecord]) -> Iterator[str]:
    if workloads:
        first = workloads[0]
        yield (
            f"{counted(first.namespaces, 'namespace')} of {first.objects} objects and "
            f"{first.pods} pods each, made in {first.creation.length_s:.1f} s."
        )
        if first.missing:
            yield f"The cluster does not serve {' and '.join(first.missing)}: left out."
    dips = [dip for cell in cells if cell.percent for dip in cell.dips]
    if cells and any(cell.streams for cell in cells):
        within = sum(dip.cycle is not None for dip in dips)
        quiet = sum(len(cell.dips) for cell in cells if not cell.percent)
        yield (
            f"{counted(len(dips), 'dip')} under churn, {within} of them within a cycle; {quiet} "
            "in cells without churn."
        )
    if placed := [cell.streams for cell in cells if cell.streams and cell.streams.nodes]:
        pairs = [pair for streams in placed for pair in streams.nodes]
        crossing = sum(client != server for client, server in pairs)
        error_ms = 1e3 * max(streams.clock_error_s for streams in placed)
        yield (
            f"{crossing} of {counted(len(pairs), 'stream')} went from one node to another; their "
            f"times are right to {error_ms:.1f} ms."
        )


def _churn_section(cells: Sequence[ChurnCell], workloads: Sequence[WorkloadRecord]) -> PageSection:
    columns = (
        NETWORK,
        LEVEL,
        _blank("cycle", "Cycle", str),
        _blank("namespaces", "Namespaces", str),
        _blank("deleted_s", "Deleted in", _s),
        _blank("made_s", "Made in", _s),
        _blank("ready_s", "Ready in", _s),
    )
    rows: list[Cells] = []
    for each in workloads:
        phase = each.creation
        made_s = ((phase.made_unix_ns or phase.end_unix_ns) - phase.begin_unix_ns) / 1e9
        rows.append(
            ("creation", Cell((None,), ""), None, each.namespaces, None, made_s, phase.length_s)
        )
    for cell in cells:
        rows += _cycle_rows(cell)
    return PageSection(
        "Cycles",
        ("Deleted: until all namespaces were gone. Made: the last object; ready: the last pod.",),
        (ReportTable("cycles", columns, tuple(rows), "Every cycle", long=len(rows) > 12),),
    )


def _blank(name: str, heading: str, show: Callable[[Any], str]) -> ReportColumn:
    """Where there is nothing, there was nothing to do."""
    return ReportColumn((name,), heading, show, missing="")


def _cycle_rows(cell: ChurnCell) -> Iterator[Cells]:
    for cycle in dict.fromkeys(phase.cycle for phase in cell.phases):
        phases = {phase.kind: phase for phase in cell.phases if phase.cycle == cycle}
        gone, made = phases.get("delete"), phases.get("create")
        made_s = None
        if made and made.made_unix_ns:
            made_s = (made.made_unix_ns - made.begin_unix_ns) / 1e9
        late = made is not None and not made.complete
        yield (
            cell.network,
            cell.percent,
            cycle,
            gone.namespaces if gone else None,
            gone.length_s if gone else None,
            made_s,
            Cell((None,), "not in time") if late else made.length_s if made else None,
        )


def _findings_table(cells: Sequence[ChurnCell]) -> ReportTable:
    columns = (
        text("cell", "Cell"),
        text("outcome", "Outcome"),
        sentence("finding", "Finding"),
    )
    rows = tuple(
        (
            cell.label,
            Cell((each.outcome,), {"ok": "kept", "fail": "broken"}.get(each.outcome, "unknown")),
            each.text,
        )
        for cell in cells
        for each in cell.findings
    )
    return ReportTable("criteria", columns, rows)


def _s(seconds: float) -> str:
    return f"{seconds:.1f} s"
