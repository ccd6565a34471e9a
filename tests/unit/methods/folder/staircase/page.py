from plimsoll.methods.staircase.result import StaircaseResult

from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import PageAnswer, PageSection, SectionTable, numbers
from plimsoll.report.parts.page import Page


def staircase_answer(run: RunDirectory) -> PageAnswer:
    result = read_run_result(run, StaircaseResult)
    stairs = result.stairs if result else ()
    rows = tuple((f"{stair.load_pps:,.0f}", f"{stair.lost:,}") for stair in stairs)
    table = SectionTable("", numbers("Load, pps", "Lost, frames"), rows)
    return PageAnswer("A staircase", (), (), (PageSection("Stairs", tables=(table,)),))


def run_page(run: RunDirectory) -> Page:
    journal = read_journal(run.journal)
    return standard_page(run, journal, staircase_answer(run), AnsweringTrials("", {}))
