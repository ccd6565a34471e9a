"""A cross-check of generators, as its page and the terminal show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.methods.cross_check.result import (
    CROSS_CHECK_TRIAL,
    CheckedFigure,
    CrossCheckResult,
    GeneratorTrial,
)
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    ns,
    number,
    seconds,
    sentence,
    text,
)
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    KeyFigure,
    PageAnswer,
    PageSection,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.plain_text import slug
from plimsoll.text.units import format_ns, format_pps, format_ratio


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    trials = {trial.number: trial for trial in journal.trials()}
    first = {each.generator: trials[each.trial] for each in reversed(_turns(journal))}
    answering = AnsweringTrials("During the first trial of each generator.", first)
    return standard_page(run, journal, cross_check_answer(run), answering)


def cross_check_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, CrossCheckResult)
    turns = result.turns if result else tuple(_turns(journal))
    return PageAnswer(
        heading=_heading(result),
        sentences=tuple(_sentences(result)),
        warnings=tuple(_warnings(turns)),
        sections=(
            *(_section(figure) for figure in (result.figures if result else ())),
            PageSection("Trials", (), (_trials(turns),)),
        ),
        figure=_figure(result),
    )


def _heading(result: CrossCheckResult | None) -> str:
    if result is None:
        return "Generators against each other"
    return f"{', '.join(result.generators)} against each other"


def _sentences(result: CrossCheckResult | None) -> Iterator[str]:
    if result is None:
        return
    load = "" if result.load_pps is None else f" at {format_pps(result.load_pps)} per direction"
    yield f"{result.rounds} rounds{load}. Media: {result.media}."
    yield "Figures differ where the ranges of two generators' trials have nothing in common."
    yield from result.notes


def _warnings(turns: Sequence[GeneratorTrial]) -> Iterator[str]:
    for each in turns:
        if each.verdict == "invalid":
            yield f"Trial {each.trial} ({each.generator}, {each.stage}) is left out: {each.reason}."


def _figure(result: CrossCheckResult | None) -> KeyFigure:
    if result is None or not result.figures:
        return NO_FIGURE
    differing = [each for each in result.figures if each.differs]
    facts = tuple((f"{each.name} ({each.stage})", "differs") for each in differing)
    return KeyFigure(f"{len(differing)} of {len(result.figures)}", "figures differ", facts)


def _section(figure: CheckedFigure) -> PageSection:
    said = "They differ." if figure.differs else "No difference beyond their own spread."
    unit = {"ns": "_ns", "pps": "_pps"}.get(figure.unit, "")
    columns = (
        text("generator", "Generator"),
        *(
            ReportColumn(
                (f"{name.lower()}{unit}",), name, lambda value: _written(value, figure.unit)
            )
            for name in ("Median", "Lowest", "Highest")
        ),
        count("trials", "Trials"),
    )
    rows = tuple(
        (name, each.median, each.lowest, each.highest, each.trials)
        for name, each in figure.values.items()
    )
    title = f"{figure.name[0].upper()}{figure.name[1:]}, {figure.stage}"
    return PageSection(title, (said, *figure.evidence), (ReportTable(slug(title), columns, rows),))


def _written(value: float, unit: str) -> str:
    match unit:
        case "ns":
            return format_ns(value)
        case "pps":
            return format_pps(value)
        case _:
            return format_ratio(value)


def _trials(turns: Sequence[GeneratorTrial]) -> ReportTable:
    columns = (
        text("generator", "Generator"),
        text("stage", "Stage"),
        count("round", "Round"),
        number("trial", "Trial", str),
        seconds("sending_s", "Sent for"),
        count("due_frames", "Due"),
        count("sent_frames", "Sent"),
        count("dut_received_frames", "DUT received"),
        count("dut_sent_frames", "DUT sent"),
        count("received_frames", "Received"),
        count("probes", "Probes"),
        ns("min_ns", "Lowest"),
        ns("p50_ns", "p50"),
        ns("p99_ns", "p99"),
        text("verdict", "Tester"),
        sentence("remark", "Remark"),
    )
    return ReportTable("generators-trials", columns, tuple(map(_trial_row, turns)))


def _trial_row(each: GeneratorTrial) -> Cells:
    return (
        each.generator,
        each.stage,
        each.turn,
        each.trial,
        each.sending_s,
        each.due,
        each.sent,
        each.dut_received,
        each.dut_sent,
        each.received,
        each.probes,
        each.min_ns,
        each.p50_ns,
        each.p99_ns,
        Cell((each.verdict,), "fit" if each.verdict == "pass" else None),
        each.reason or "",
    )


def _turns(journal: JournalContents) -> list[GeneratorTrial]:
    events = journal.of_kind(CROSS_CHECK_TRIAL)
    return [GeneratorTrial.model_validate(each.fields.get("trial")) for each in events]
