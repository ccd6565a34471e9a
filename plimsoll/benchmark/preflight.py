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
    largest, most = experiment.profile.largest_frame_size, experiment.lab.largest_frame_size
    if largest > most:
        raise InputError(
            f"frames of {largest} bytes do not pass a lab of kind {experiment.lab.kind}",
            where="profile",
            remedy=f"use frames of at most {most} bytes, or another lab",
        )
