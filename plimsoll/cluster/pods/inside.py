"""What a run's container starts: the run itself, on the CPUs and devices that the pod got.

`python -m plimsoll.cluster.pods.inside EXPERIMENT FOLDER RUN`: EXPERIMENT is mounted from the
pod's config map, FOLDER is the volume of the record, RUN the name of the run directory there. It
waits until it may begin, which the other end says when it has put there what the run is to go on
with. What the run says goes to the container's log and next to the record.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.cluster.pods.manifests import host_fields
from plimsoll.cluster.pods.record_server import BEGIN, OUTPUT, STATUS, STOP
from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.processes.child import module_argv
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.field_path import FieldPath

_POLL_S = 1.0
# As the SR-IOV device plugin names them: PCIDEVICE_OPENSHIFT_IO_TESTER=0000:3b:02.1,0000:3b:02.2.
_PREFIX = "PCIDEVICE_"
# In devargs: {openshift.io/tester} for the first function, {openshift.io/tester:1} for the next.
_DEVICE = re.compile(r"\{([A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+)(?::(\d{1,3}))?\}", re.ASCII)


def main(arguments: Sequence[str]) -> int:
    """Run, and return the run's exit status."""
    experiment, root, run = Path(arguments[0]), Path(arguments[1]), arguments[2]
    _wait_for(root / BEGIN)
    with (root / OUTPUT).open("ab", buffering=0) as output:
        try:
            RunDirectory.within(root / run, placed(experiment).normalised())
        except PlimsollError as error:
            output.write(f"error: {error}\n".encode())
            status = error.exit_code
        else:
            status = _supervised(module_argv("plimsoll.cli", *_command(root / run)), root, output)
    write_whole(root / STATUS, json.dumps({"exit_status": status}))
    return status


def placed(experiment: Path) -> Experiment:
    """The experiment on this pod's CPUs and devices. Raises PlimsollError."""
    given = load_experiment(experiment)
    written = given.normalised()
    fields = (*device_fields(written, os.environ), *host_fields(written, os.environ))
    polled = (*given.effective_generator.polled_cpus, *given.lab.polled_cpus)
    return load_experiment(experiment, (*fields, *cpu_fields(polled, allowed_cpus())))


def _command(run: Path) -> tuple[str, ...]:
    """A directory in which nothing was recorded yet is gone on with, too."""
    return ("run", "--resume", str(run))


def _wait_for(mark: Path) -> None:
    while not mark.exists():
        time.sleep(_POLL_S)


def _supervised(argv: Sequence[str], root: Path, output: IO[bytes]) -> int:
    """Run it until it ends by itself, by a signal to us, or by the mark that it is to stop."""
    process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    teller = threading.Thread(target=_tell, args=(process.stdout, output), daemon=True)
    teller.start()
    stopping = False
    while (status := process.poll()) is None:
        if not stopping and (root / STOP).exists():
            stopping = True
            process.send_signal(signal.SIGINT)
        time.sleep(_POLL_S)
    teller.join(_POLL_S)
    return status if status >= 0 else 128 - status


def _tell(said: IO[bytes] | None, output: IO[bytes]) -> None:
    for line in said or ():
        output.write(line)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


# An experiment as it is in a pod: on the CPUs that the pod got, with the devices it was handed.
#
# The kubelet's static CPU manager chooses the CPUs of a guaranteed pod, and the SR-IOV device
# plugin its virtual functions; both are known in the pod alone.
def cpu_fields(polled: Sequence[tuple[str, int]], allowed: Collection[int]) -> tuple[SetField, ...]:
    """What to set so that loops poll CPUs that are `allowed`; nothing where they do.

    `polled` has each polled CPU with its field. In their order they get the last ones of the
    pod's, so that the first are left to everything else. Raises MachineError where the pod has
    too few.
    """
    polled_cpus = sorted({cpu for _, cpu in polled})
    if set(polled_cpus) <= set(allowed):
        return ()
    if len(polled_cpus) >= len(allowed):
        raise MachineError(
            f"{len(polled_cpus)} CPUs are polled, and the pod has {format_cpu_list(allowed)}, of "
            "which one is left to everything else",
            where="pod",
            remedy=f"give the pod {len(polled_cpus) + 1} CPUs",
        )
    given = dict(zip(polled_cpus, sorted(allowed)[-len(polled_cpus) :], strict=True))
    return tuple(SetField(FieldPath.parse(place), given[cpu]) for place, cpu in polled)


def device_fields(
    experiment: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[SetField, ...]:
    """What to set so that `{RESOURCE}` in the lab's devargs is the pod's function of that name.

    Raises InputError for one that the pod was not given.
    """
    lab = experiment.get("lab")
    ports = lab.get("ports") if isinstance(lab, dict) else None
    return tuple(_fields_of(ports, environment)) if isinstance(ports, list) else ()


def _fields_of(ports: Sequence[object], environment: Mapping[str, str]) -> Iterator[SetField]:
    for number, port in enumerate(ports):
        devargs = port.get("devargs") if isinstance(port, dict) else None
        if isinstance(devargs, str) and _DEVICE.search(devargs):
            place = f"lab.ports.{number}.devargs"
            yield SetField(FieldPath.parse(place), _with_devices(devargs, environment, place))


def _with_devices(devargs: str, environment: Mapping[str, str], place: str) -> str:
    def address(found: re.Match[str]) -> str:
        name = re.sub(r"[^A-Za-z0-9]", "_", found[1]).upper()
        given = [each for each in environment.get(_PREFIX + name, "").split(",") if each]
        number = int(found[2] or 0)
        if number >= len(given):
            raise InputError(
                f"the pod has {len(given)} devices {found[1]}, and this asks for number {number}",
                where=place,
                remedy="request as many in the pod's networks or resources",
            )
        return given[number]

    return _DEVICE.sub(address, devargs)


if __name__ == "__main__":
    # The first process of a container gets no signal that it has no handler for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    enter(lambda: main(sys.argv[1:]))
