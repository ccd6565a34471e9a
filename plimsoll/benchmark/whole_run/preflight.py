"""What can be known to be wrong before anything is started or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_generator_sends
from plimsoll.benchmark.experiment.loads import load_within_line, loads_of_search
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.benchmark.trial_run.pre_trial import check_command
from plimsoll.dut.lab import LabModel, LineRate
from plimsoll.errors import InputError, PlimsollError
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.host.cpus import cpu_mistakes
from plimsoll.host.ledger.cpu_claims import polled_cpu_mistakes
from plimsoll.host.resctrl.checks import resctrl_mistakes
from plimsoll.neighbours.noise import noise_mistakes
from plimsoll.text.units import Rate, format_duration
from plimsoll.traffic.streams.pacing import planned_schedule

# Of a lab that cannot tell it, as something else is wrong with it.
_UNKNOWN = LineRate(None, settled=False)


class MistakesFound(list[PlimsollError]):
    """What was found to be wrong, in the order found, each once."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Take what is raised within for one of them."""
        try:
            yield
        except PlimsollError as error:
            self.take((error,))

    def take(self, errors: Iterable[PlimsollError]) -> None:
        """Add those that are not among them."""
        for error in errors:
            if str(error) not in map(str, self):
                self.append(error)


def check_trial(experiment: Experiment, load: Rate, where: str) -> None:
    """Raise what is wrong with one trial at `load`, which was given at `where`.

    InputError and MachineError, with nothing started or written.
    """
    found = MistakesFound()
    line_rate = _look(experiment, found)
    with found.collected():
        _check_load(experiment, load, line_rate, where)
    _raise_first(experiment, found)


def check_search(experiment: Experiment) -> None:
    """Raise what is wrong with a search for the load line, as `check_trial` does."""
    _raise_first(experiment, search_mistakes(experiment))


def search_mistakes(experiment: Experiment) -> MistakesFound:
    """All that is wrong with a search for the load line; nothing is started or written."""
    found = MistakesFound()
    with found.collected():
        _check_pacing(experiment)
    with found.collected():
        _check_schedules(experiment)
    line_rate = _look(experiment, found)
    search = experiment.search
    with found.collected():
        if all(_is_known(rate, line_rate) for rate in search.loads.values()):
            # Loads out of order are refused by the search itself.
            experiment.begin_search(loads_of_search(experiment, line_rate.bps))
        else:
            _check_order(search.minimum, search.maximum)
    for field, rate in search.loads.items():
        with found.collected():
            _check_load(experiment, rate, line_rate, f"search.{field}")
    return found


def machine_mistakes(lab: LabModel, generator: GeneratorPlan) -> tuple[MistakesFound, LineRate]:
    """What the machine lacks for a lab and who sends to it, and the line rate it has."""
    found, line_rate = MistakesFound(), _UNKNOWN
    if polled := polled_cpus(lab, generator):
        found.take(cpu_mistakes(polled))
        found.take(polled_cpu_mistakes(polled))
    with found.collected():
        line_rate = lab.check_machine()
    return found, line_rate


def polled_cpus(lab: LabModel, generator: GeneratorPlan) -> list[tuple[str, int]]:
    """The CPUs of this machine that polling loops will keep busy, each with its field."""
    return [*generator.polled_cpus, *lab.polled_cpus]


def _raise_first(experiment: Experiment, found: MistakesFound) -> None:
    for error in found:
        experiment.place(error)
        raise error


def _look(experiment: Experiment, found: MistakesFound) -> LineRate:
    """Look at machine, lab and frames for what any trial needs; the line rate."""
    of_machine, line_rate = machine_mistakes(experiment.lab, experiment.effective_generator)
    found.take(of_machine)
    found.take(noise_mistakes(experiment.noise, simulated=experiment.lab.simulated))
    found.take(
        resctrl_mistakes(
            experiment.resctrl,
            TestbedConfig.of(experiment).polled_cpus,
            simulated=experiment.lab.simulated,
        )
    )
    with found.collected():
        check_command(experiment.trial)
    with found.collected():
        _check_frame_sizes(experiment)
    with found.collected():
        _check_flows(experiment)
    return line_rate


def _check_load(experiment: Experiment, load: Rate, line_rate: LineRate, where: str) -> None:
    if not _is_known(load, line_rate):
        return
    load_pps = load_within_line(load, experiment, line_rate.bps, where)
    check_generator_sends(
        experiment, load_pps, where, teaching=experiment.trial.teaching.measurement
    )


def _is_known(load: Rate, line_rate: LineRate) -> bool:
    """Whether it can be converted to pps before the links are up."""
    return load.unit != "percent" or line_rate.settled


def _check_order(minimum: Rate, maximum: Rate) -> None:
    """Of shares of a line rate that is not known, too."""
    if minimum.unit == maximum.unit and minimum.value > maximum.value:
        raise InputError(
            f"is {minimum}, above the maximum of {maximum}",
            where="search.minimum",
            remedy="give a minimum below the maximum",
        )


def _check_pacing(experiment: Experiment) -> None:
    for stream in experiment.profile.paced_by_the_port:
        raise InputError(
            f"stream {stream.name} is sent back-to-back, so no load can be set for it",
            where="profile",
            remedy="give it another pacing, or run a single trial with plimsoll trial",
        )


def _check_schedules(experiment: Experiment) -> None:
    """No trial of the search is over before the first stream of its load begins."""
    schedules = [planned_schedule(each.schedule) for each in experiment.profile.load_streams]
    for field, duration_s in experiment.search.durations.items():
        if schedules and not any(each.sending_s(0.0, duration_s) > 0 for each in schedules):
            first_s = min(each.start_s for each in schedules)
            raise InputError(
                f"no load is sent in {format_duration(duration_s)}: the first stream begins "
                f"{format_duration(first_s)} after a trial",
                where=f"search.{field}",
                remedy="give longer trials, or streams an earlier schedule.start",
            )


def _check_frame_sizes(experiment: Experiment) -> None:
    largest, most = experiment.largest_frame_size, experiment.lab.largest_frame_size
    if largest > most:
        added = experiment.lab.added_bytes
        shorter = f", {most - added} where it adds {added}" if added else ""
        raise InputError(
            f"frames of {largest} bytes do not pass a lab of kind {experiment.lab.kind}",
            where="profile",
            remedy=f"use frames of at most {most} bytes{shorter}, or another lab",
        )


def _check_flows(experiment: Experiment) -> None:
    lab = experiment.lab
    if lab.flow_memory_s is not None:
        lab.check_flows(experiment.flows_remembered(lab.flow_memory_s))
