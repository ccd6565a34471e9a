"""What can be known to be wrong before anything is started or written."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.generator_limits import check_generator_sends
from plimsoll.benchmark.experiment.loads import load_within_line, loads_of_search
from plimsoll.benchmark.trial_run.pre_trial import check_command
from plimsoll.dut.lab import LineRate
from plimsoll.errors import InputError
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.cpu_claims import refuse_polled_cpus
from plimsoll.text.units import Rate


def check_trial(experiment: Experiment, load: Rate, where: str) -> None:
    """Raise what is wrong with one trial at `load`, which was given at `where`.

    InputError and MachineError, with nothing started or written.
    """
    _check_load(experiment, load, _check_machine(experiment), where)


def check_search(experiment: Experiment) -> None:
    """Raise what is wrong with a search for the load line, as `check_trial` does."""
    _check_pacing(experiment)
    line_rate = _check_machine(experiment)
    search = experiment.search
    if all(_is_known(rate, line_rate) for rate in search.loads.values()):
        # Loads out of order are refused by the search itself.
        search.begin(loads_of_search(experiment, line_rate.bps))
    for field, rate in search.loads.items():
        _check_load(experiment, rate, line_rate, f"search.{field}")


def _check_load(experiment: Experiment, load: Rate, line_rate: LineRate, where: str) -> None:
    if not _is_known(load, line_rate):
        return
    load_pps = load_within_line(load, experiment, line_rate.bps, where)
    check_generator_sends(
        experiment, load_pps, where, teaching=experiment.trial.teaching.measurement
    )


def _is_known(load: Rate, line_rate: LineRate) -> bool:
    """Whether it can be told in pps before the links are up."""
    return load.unit != "percent" or line_rate.settled


def _check_machine(experiment: Experiment) -> LineRate:
    """What the machine and the lab lack for the experiment; the line rate they have."""
    if polled := [*experiment.effective_generator.polled_cpus, *experiment.lab.polled_cpus]:
        check_cpus(polled)
        refuse_polled_cpus(polled)
    _check_frame_sizes(experiment)
    check_command(experiment.trial)
    return experiment.lab.check_machine()


def _check_pacing(experiment: Experiment) -> None:
    for stream in experiment.profile.paced_by_the_port:
        raise InputError(
            f"stream {stream.name} is sent back-to-back, so no load can be set for it",
            where="profile",
            remedy="give it another pacing, or run a single trial with plimsoll trial",
        )


def _check_frame_sizes(experiment: Experiment) -> None:
    largest, most = experiment.profile.largest_frame_size, experiment.lab.largest_frame_size
    if largest > most:
        raise InputError(
            f"frames of {largest} bytes do not pass a lab of kind {experiment.lab.kind}",
            where="profile",
            remedy=f"use frames of at most {most} bytes, or another lab",
        )
