"""A cross-check of generators, as its page and the terminal show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plimsoll.methods.cross_check.result import (
    CROSS_CHECK_TRIAL,
    CheckedFigure,
    CheckedValue,
    CrossCheckResult,
    GeneratorTrial,
)
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    Heading,
    KeyFigure,
    PageAnswer,
    PageSection,
    SectionTable,
    numbers,
    words,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio


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
    columns = (
        Heading("Generator", number=False),
        *numbers("Median", "Lowest", "Highest", "Trials"),
    )
    rows = tuple((name, *_cells(each, figure.unit)) for name, each in figure.values.items())
    title = f"{figure.name[0].upper()}{figure.name[1:]}, {figure.stage}"
    return PageSection(title, (said, *figure.evidence), (SectionTable("", columns, rows),))


def _cells(value: CheckedValue, unit: str) -> tuple[str, ...]:
    figures = (value.median, value.lowest, value.highest)
    return (*(_written(each, unit) for each in figures), str(value.trials))


def _written(value: float, unit: str) -> str:
    match unit:
        case "ns":
            return format_ns(value)
        case "pps":
            return format_pps(value)
        case _:
            return format_ratio(value)


def _trials(turns: Sequence[GeneratorTrial]) -> SectionTable:
    columns = (
        Heading("Generator", number=False),
        Heading("Stage", number=False),
        *numbers("Round", "Trial", "Sent for", "Due", "Sent", "DUT received", "DUT sent"),
        *numbers("Received", "Probes", "Lowest", "p50", "p99"),
        Heading("Tester", number=False),
        words("Remark"),
    )
    return SectionTable("", columns, tuple(_trial_cells(each) for each in turns))


def _trial_cells(each: GeneratorTrial) -> tuple[str, ...]:
    return (
        each.generator,
        each.stage,
        str(each.turn),
        str(each.trial),
        format_duration(each.sending_s),
        "-" if each.due is None else f"{each.due:,.0f}",
        f"{each.sent:,}",
        _count(each.dut_received),
        _count(each.dut_sent),
        f"{each.received:,}",
        f"{each.probes:,}",
        *(_latency(ns) for ns in (each.min_ns, each.p50_ns, each.p99_ns)),
        "fit" if each.verdict == "pass" else each.verdict,
        each.reason or "",
    )


def _count(frames: int | None) -> str:
    return "-" if frames is None else f"{frames:,}"


def _latency(ns: int | None) -> str:
    return "-" if ns is None else format_ns(ns)


def _turns(journal: JournalContents) -> list[GeneratorTrial]:
    events = journal.of_kind(CROSS_CHECK_TRIAL)
    return [GeneratorTrial.model_validate(each.fields.get("trial")) for each in events]
