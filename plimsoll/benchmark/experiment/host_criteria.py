"""Whether what an experiment asks of hosts can be observed at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from plimsoll.dut.lab import LabModel
from plimsoll.observe.agent.settings import ObserveSettings
from plimsoll.text.mistakes import Location, mistake
from plimsoll.trial.criteria.criterion import Criterion
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion


def host_criteria_checks(
    criteria: Sequence[Criterion], lab: LabModel, observe: ObserveSettings, place: Location
) -> Iterator[Callable[[], None]]:
    """For each host criterion in the list at `place`, a check that raises a mistake.

    That is where it could never be judged.
    """
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, HostCriterion):
            yield partial(_check, criterion, lab, observe, *place, index)


def _check(
    criterion: HostCriterion, lab: LabModel, observe: ObserveSettings, *place: str | int
) -> None:
    question = criterion.bound.question
    rule = criterion.bound.rule
    if lab.simulated:
        problem = f"{rule} is about a host, and a simulated lab has none"
        raise mistake(problem, "remove it, or give the experiment another lab", *place)
    if not observe.enabled:
        problem = f"{rule} is about a host, and observe.enabled is false"
        raise mistake(problem, "set it to true, or remove the criterion", *place)
    if observe.sources is not None and question.source not in observe.sources:
        problem = f"{rule} is about {question.source}, which is not one of observe.sources"
        raise mistake(problem, f"add {question.source} to them, or remove the criterion", *place)
    of_dut = lab.polled_cpus or any(host.polled_cpus for host in observe.hosts)
    if question.cpus == "dut" and not of_dut:
        problem = f"{rule} is about CPUs of the DUT, and none are known"
        remedy = "name its host under observe.hosts with polled_cpus, or remove the criterion"
        raise mistake(problem, remedy, *place)
