"""What can be known to be wrong before anything is started or written."""

from __future__ import annotations

from plimsoll.benchmark.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.host.cpus import check_cpus


def check_before_start(experiment: Experiment) -> None:
    """Raise InputError where this machine or the lab cannot do what the experiment asks."""
    check_cpus(
        [
            *((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(experiment.generator.cpus)),
            *experiment.lab.polled_cpus,
        ]
    )
    _check_frame_sizes(experiment)


def check_search(experiment: Experiment) -> None:
    """Raise InputError where no search can set the load, in addition to `check_before_start`."""
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
