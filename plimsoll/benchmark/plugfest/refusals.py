"""The cells that cannot be run here and now, known before anything is started."""

from __future__ import annotations

from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.matrix.plan import MatrixPlan, read_iteration
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.errors import PlimsollError
from plimsoll.record.run.run_directory import RunDirectory


def refused_iterations(run: RunDirectory, plan: MatrixPlan) -> dict[int, PlimsollError]:
    """By iteration what is wrong with it: a DUT that is not installed, a frame too long.

    Looked at in every session, as the machine may have got by now what it lacked.
    """
    refused: dict[int, PlimsollError] = {}
    for each in plan.iterations:
        try:
            experiment = read_iteration(run, each.number)
            check_search(experiment)
            check_search_readings(experiment)
        except PlimsollError as error:
            refused[each.number] = error
    return refused


def refusal_text(error: PlimsollError) -> str:
    """What is wrong and what to do, without the place in a file that the run made."""
    return f"{error.message} ({error.remedy})" if error.remedy else error.message
