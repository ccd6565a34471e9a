"""An experiment looked at before it is run: all its mistakes, or what a run of it would do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from plimsoll.benchmark.check.planned_phases import LoadRange, PlannedTime, planned_time
from plimsoll.benchmark.check.planned_traffic import PlannedTraffic
from plimsoll.benchmark.experiment.experiment import Experiment, experiment_in, read_experiment
from plimsoll.benchmark.experiment.loads import load_within_line
from plimsoll.benchmark.experiment.reading_interval import check_search_readings
from plimsoll.benchmark.experiment.set_field import SetField, SourceMap
from plimsoll.benchmark.testbed.event_budget import planned_watch
from plimsoll.benchmark.whole_run.preflight import machine_mistakes, polled_cpus, search_mistakes
from plimsoll.dut.lab import LineRate
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.registry.labs import LabSettings
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.generator.registry.generators import GeneratorField
from plimsoll.host.processes.schedule_stats import BusyCpu, look_at_cpus
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.results.check_result import CheckResult, FoundMistake, PlannedCpu, PlannedRun
from plimsoll.text.document import Document
from plimsoll.text.mistakes import Location, each_mistake
from plimsoll.traffic.plan import StreamPlan


def check_experiment(
    path: Path, set_fields: Sequence[SetField] = (), validation_s: float | None = None
) -> CheckResult:
    """All that is wrong with the experiment and a search by it, or what the search would do.

    Nothing is started, reserved or written. `validation_s` takes the place of the
    experiment's own validation. Raises InputError for a file that is not an experiment at all.
    """
    return check_document(*read_experiment(path, set_fields), validation_s)


def check_document(
    document: Document,
    known: Mapping[Location, InputError],
    validation_s: float | None = None,
) -> CheckResult:
    """The same, of a document that is complete but for the mistakes that are `known`."""
    path = document.path
    try:
        experiment = experiment_in(document, known)
        if validation_s is not None:
            experiment = experiment.validated_for(validation_s)
    except InputError as error:
        mistakes = (*each_mistake(error), *_lacking(document))
        return _result(path, mistakes, None)
    mistakes = tuple(_mistakes(experiment))
    try:
        return _result(path, mistakes, None if mistakes else _planned(experiment))
    except InputError as error:
        # One that a run would report once the links have given the line rate.
        experiment.place(error)
        return _result(path, (error,), None)


def _result(path: Path, mistakes: Sequence[PlimsollError], run: PlannedRun | None) -> CheckResult:
    found = tuple(FoundMistake.model_validate(each) for each in mistakes)
    return CheckResult(file=str(path), mistakes=found, run=run)


class _MachineSections(BaseModel):
    """The sections that ask something of the machine, looked at where others are wrong."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    lab: LabSettings = TestpmdSettings()
    generator: GeneratorField = EngineSettings()


def _lacking(document: Document) -> Iterator[PlimsollError]:
    """What the machine lacks for an experiment that is wrong elsewhere."""
    try:
        sections = document.validate(_MachineSections)
    except InputError:
        # Reported already, with the other mistakes.
        return
    written = SourceMap(document)
    sender = sections.lab.simulation or sections.generator
    for error in machine_mistakes(sections.lab, sender)[0]:
        written.place(error, Experiment.model_fields)
        yield error


def _mistakes(experiment: Experiment) -> Iterator[PlimsollError]:
    for error in search_mistakes(experiment):
        experiment.place(error)
        yield error
    try:
        check_search_readings(experiment)
    except PlimsollError as error:
        yield error


def _planned(experiment: Experiment) -> PlannedRun:
    line_rate = experiment.lab.check_machine()
    known = _known_loads(experiment, line_rate)
    minimum_pps, maximum_pps = known.get("minimum"), known.get("maximum")
    traffic = PlannedTraffic(experiment, minimum_pps, maximum_pps)
    time = _planned_time(experiment, known, line_rate)
    return PlannedRun(
        name=experiment.name,
        method=LOAD_LINE,
        strategy=experiment.search.strategy,
        lab=experiment.lab.kind,
        line_rate_bps=line_rate.bps,
        minimum_pps=minimum_pps,
        maximum_pps=maximum_pps,
        streams=traffic.streams(),
        ports=traffic.ports(line_rate.bps),
        cpus=planned_cpus(experiment, traffic.plans),
        phases=time.phases,
        least_s=time.least_s,
        most_s=time.most_s,
        assumptions=time.assumptions,
        notes=(
            *experiment.profile.notes(),
            *planned_watch(experiment.lab, experiment.observe),
        ),
    )


def planned_duration(experiment: Experiment) -> PlannedTime:
    """How long a run of the experiment may take, by phases.

    Raises PlimsollError where the machine lacks what the lab needs.
    """
    line_rate = experiment.lab.check_machine()
    return _planned_time(experiment, _known_loads(experiment, line_rate), line_rate)


def _known_loads(experiment: Experiment, line_rate: LineRate) -> Mapping[str, float]:
    """The loads of the search in pps, by field; without those that only the links will tell."""
    return {
        field: load_within_line(rate, experiment, line_rate.bps, f"search.{field}")
        for field, rate in experiment.search.loads.items()
        if rate.unit != "percent" or line_rate.settled
    }


def _planned_time(
    experiment: Experiment, known: Mapping[str, float], line_rate: LineRate
) -> PlannedTime:
    if len(known) < len(experiment.search.loads) or not {"minimum", "maximum"} <= known.keys():
        return planned_time(experiment, None)
    loads = LoadRange(known["minimum"], known["maximum"], line_rate.bps)
    return planned_time(experiment, loads)


# The CPUs that a run would poll on this machine, and who else is on them.
def planned_cpus(
    experiment: Experiment,
    streams: tuple[StreamPlan, ...],
    look: Callable[[Collection[int]], Sequence[BusyCpu]] = look_at_cpus,
) -> tuple[PlannedCpu, ...]:
    """The tester's CPUs, then the DUT's; none of a simulated lab. Looks at them for a moment."""
    generator = experiment.effective_generator
    polled = polled_cpus(experiment.lab, generator)
    if not polled:
        return ()
    busy = {each.cpu: each for each in look([cpu for _, cpu in polled])}
    work = {each.cpu: each for each in generator.cpu_work(streams, experiment.lab.port_count)}
    return tuple(
        PlannedCpu(
            cpu=cpu,
            role="tester" if (field, cpu) in generator.polled_cpus else "dut",
            field=field,
            sends=work[cpu].sends if cpu in work else (),
            receives_from=work[cpu].receives_from if cpu in work else (),
            busy_share=busy[cpu].share if cpu in busy else 0.0,
            busy_with=_named(busy.get(cpu)),
        )
        for field, cpu in polled
    )


def _named(busy: BusyCpu | None) -> tuple[str, ...]:
    return () if busy is None else tuple(f"{comm} ({pid})" for comm, pid, _ in busy.processes)
