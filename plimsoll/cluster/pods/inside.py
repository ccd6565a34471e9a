"""What a run's container starts: the run itself, on the CPUs and devices that the pod got.

`python -m plimsoll.cluster.pods.inside EXPERIMENT FOLDER RUN`: EXPERIMENT is mounted from the
pod's config map, FOLDER is the volume of the record, RUN the name of the run directory there. It
waits until it may begin, which the other end says when it has put there what the run is to go on
with. What the run says goes to the container's log and next to the record.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.cluster.pods.observed_node import host_fields
from plimsoll.cluster.pods.placement import cpu_fields, device_fields
from plimsoll.cluster.pods.record_names import BEGIN, OUTPUT, STATUS, STOP
from plimsoll.errors import PlimsollError
from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.processes.own_module import module_argv
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory

_POLL_S = 1.0


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


if __name__ == "__main__":
    # The first process of a container gets no signal that it has no handler for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    enter(lambda: main(sys.argv[1:]))
