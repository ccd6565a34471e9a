"""The cells that cannot be run here and now, known before anything is started."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.whole_run.preflight import search_mistakes
from plimsoll.errors import PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.plan import MatrixPlan, read_iteration
from plimsoll.record.run.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class RefusedCells:
    """By iteration what is wrong with it; and the CPUs of any that are taken for now, each once.

    A cell whose CPU another run polls at the moment is not refused for that.
    """

    cells: dict[int, PlimsollError]
    taken: tuple[CpuTaken, ...]


def refused_iterations(run: RunDirectory, plan: MatrixPlan) -> RefusedCells:
    """A DUT that is not installed, a frame too long, and whatever else is known beforehand.

    Looked at in every session, as the machine may have got by now what it lacked.
    """
    refused: dict[int, PlimsollError] = {}
    taken: dict[str, CpuTaken] = {}
    for each in plan.iterations:
        try:
            experiment = read_iteration(run, each.number)
            with experiment.placing():
                for mistake in search_mistakes(experiment):
                    if not isinstance(mistake, CpuTaken):
                        raise mistake
                    taken.setdefault(mistake.message, mistake)
            check_search_readings(experiment)
        except PlimsollError as error:
            refused[each.number] = error
    return RefusedCells(refused, tuple(taken.values()))


def refusal_text(error: PlimsollError) -> str:
    """What is wrong and what to do, without the place in a file that the run made."""
    return f"{error.message} ({error.remedy})" if error.remedy else error.message
