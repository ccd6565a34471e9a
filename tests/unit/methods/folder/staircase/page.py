from plimsoll.methods.staircase.result import StaircaseResult

from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import ReportTable, count
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import PageAnswer, PageSection
from plimsoll.report.parts.page import Page


def staircase_answer(run: RunDirectory) -> PageAnswer:
    result = read_run_result(run, StaircaseResult)
    stairs = result.stairs if result else ()
    columns = (count("load_pps", "Load, pps"), count("lost_frames", "Lost, frames"))
    table = ReportTable("stairs", columns, tuple((stair.load_pps, stair.lost) for stair in stairs))
    return PageAnswer("A staircase", (), (), (PageSection("Stairs", tables=(table,)),))


def run_page(run: RunDirectory) -> Page:
    journal = read_journal(run.journal)
    return standard_page(run, journal, staircase_answer(run), AnsweringTrials("", {}))
