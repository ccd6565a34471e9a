"""The neighbours of an experiment: up before a trial, down after it, and what they did."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.host.cpus import cpu_mistakes
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, describe_exit, wait_until
from plimsoll.neighbours import placed
from plimsoll.neighbours.neighbour import Achieved, NeighbourModel, NeighbourRun
from plimsoll.text.counted import size_text

CGROUP_ROOT = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_WITHOUT = "or leave the noise out: --set noise=[]"


def noise_mistakes(
    noise: Sequence[NeighbourModel], *, simulated: bool, meminfo: Path = _MEMINFO
) -> Iterator[PlimsollError]:
    """All that is wrong, by the neighbours' places in the experiment."""
    if noise and simulated:
        yield InputError(
            "a simulated lab has no machine that could be disturbed",
            where="noise",
            remedy=f"use a lab of another kind, {_WITHOUT}",
        )
        return
    for index, neighbour in enumerate(noise):
        yield from _mistakes(f"noise[{index}]", neighbour)
    total = sum(neighbour.memory_bytes for neighbour in noise)
    if total > (available := _available_bytes(meminfo)):
        yield MachineError(
            f"the working sets take {size_text(total)}, and {size_text(available)} are available",
            where="noise",
            remedy=f"state smaller ones, or fewer workers, {_WITHOUT}",
        )


def cgroup_folder(cgroup: str) -> Path:
    """Where the kernel shows it."""
    return CGROUP_ROOT / cgroup


def _mistakes(place: str, neighbour: NeighbourModel) -> Iterator[PlimsollError]:
    for number, cpu in enumerate(neighbour.cpus):
        # One by one: a CPU may well be a polling loop's, or another neighbour's.
        yield from cpu_mistakes([(f"{place}.cpus[{number}]", cpu)])
    if neighbour.cgroup is not None:
        yield from _cgroup_mistakes(f"{place}.cgroup", cgroup_folder(neighbour.cgroup))
    folder = neighbour.work_directory
    if folder is not None and not (folder.is_dir() and os.access(folder, os.W_OK)):
        yield MachineError(
            f"{folder} is not a directory that can be written",
            where=f"{place}.directory",
            remedy="name one that can, on the disk that is meant",
        )
    try:
        neighbour.find_program()
    except MachineError as error:
        error.where = place
        yield error


def _cgroup_mistakes(place: str, folder: Path) -> Iterator[PlimsollError]:
    members = folder / "cgroup.procs"
    if not members.is_file():
        yield MachineError(
            f"there is no cgroup {folder}",
            where=place,
            remedy=f"make it, or name one below {CGROUP_ROOT} that is there",
        )
    elif not os.access(members, os.W_OK):
        yield MachineError(
            f"this user may not put processes into {folder}",
            where=place,
            remedy="run as root, or name a cgroup that is delegated to this user",
        )


def _available_bytes(meminfo: Path) -> int:
    """Of the kernel's estimate of what can be had without swapping."""
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise MachineError("says nothing of MemAvailable", where=str(meminfo))


# Gigabytes of memory are there within seconds; the rest is patience with a busy machine.
_START_TIMEOUT_S = 60.0
# stress-ng's slowest ends a second after it is signalled to.
_END_PATIENCE_S = 10.0
_POLL_S = 0.02
_PROC = Path("/proc")
# Of /proc/PID/stat behind the name in parentheses: state, ppid, pgrp, session.
_STATE, _SESSION = 0, 3


@dataclass
class TrialNoise:
    """The noise of one trial: `tasks` are its threads, by the neighbour that each belongs to.

    `runs` are known once it has ended.
    """

    tasks: dict[int, str] = field(default_factory=dict)
    runs: tuple[NeighbourRun, ...] = ()


@dataclass(frozen=True)
class Noise:
    """The neighbours that every trial of a test bed has; none without a ledger to note them in.

    `resctrl_tasks` is the file `tasks` of the resctrl group that they are in; None without one.
    """

    neighbours: tuple[NeighbourModel, ...] = ()
    ledger: Ledger | None = None
    resctrl_tasks: Path | None = None

    @contextmanager
    def during_trial(self) -> Iterator[TrialNoise]:
        """Have the neighbours run, all ready, for the length of a `with`.

        Raises MachineError naming the one that does not start.
        """
        noise = TrialNoise()
        if not self.neighbours or self.ledger is None:
            yield noise
            return
        with ExitStack() as stack:
            running = [
                _Running.start(place, neighbour, self.ledger, self.resctrl_tasks, stack)
                for place, neighbour in enumerate(self.neighbours)
            ]
            for each in running:
                each.wait_until_ready()
            noise.tasks = _tasks(running)
            yield noise
            noise.tasks.update(_tasks(running))
            noise.runs = _ended(running)


# Of a test bed whose experiment has none.
NO_NOISE = Noise()


class _Running:
    """One neighbour that runs."""

    def __init__(self, neighbour: NeighbourModel, place: int, child: Child, report: Path) -> None:
        self.neighbour = neighbour
        self.child = child
        self._place = place
        self._report = report
        self._ready = 0.0

    @classmethod
    def start(
        cls,
        place: int,
        neighbour: NeighbourModel,
        ledger: Ledger,
        resctrl_tasks: Path | None,
        stack: ExitStack,
    ) -> _Running:
        """Start it, noted in the ledger; when the stack unwinds, it and its files are gone."""
        program = neighbour.find_program()
        folder = _work_folder(place, neighbour, ledger)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        report, log = (ledger.directory / f"noise-{place}.{end}" for end in ("yaml", "log"))
        report.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        child = Child.start(
            (*_placing(neighbour, resctrl_tasks), *neighbour.argv(program, report, folder)),
            log=log,
            environment=ledger.environment,
            favoured=False,
        )
        stack.callback(_end_whole, child)
        ledger.note_process(neighbour.name, child.identity)
        return cls(neighbour, place, child, report)

    def wait_until_ready(self) -> None:
        """Return once it disturbs. Raises MachineError where it ends, or takes too long."""
        if not wait_until(self._is_ready, _START_TIMEOUT_S, every_s=_POLL_S, check=self._check):
            raise self._failed(f"was not ready within {_START_TIMEOUT_S:g} s")
        self._ready = time.monotonic()

    def _is_ready(self) -> bool:
        return self.neighbour.is_ready(self.child, len(session_processes(self.child.pid)))

    def _check(self) -> None:
        if (status := self.child.exit_status()) is not None:
            raise self._failed(describe_exit(status))

    def ended(self, ran_s: float, early: int | None) -> NeighbourRun:
        """What it did, now that it has ended; `early` is the status of one that we did not end."""
        neighbour = self.neighbour
        achieved = neighbour.achieved(self.child, self._report)
        return _run(neighbour, achieved, ran_s, None if early is None else describe_exit(early))

    @property
    def ran_s(self) -> float:
        """Since it was ready."""
        return time.monotonic() - self._ready

    def _failed(self, problem: str) -> MachineError:
        said = "".join(f"\n  {line}" for line in self.child.log_tail(5))
        return MachineError(
            f"the neighbour {self.neighbour.name} {problem}{said}",
            where=f"noise[{self._place}]",
            remedy="correct its fields, or leave the noise out: --set noise=[]",
        )


def _ended(running: Sequence[_Running]) -> tuple[NeighbourRun, ...]:
    """Ask all of them to end before waiting for the first."""
    early = [each.child.exit_status() for each in running]
    lasted = [each.ran_s for each in running]
    for each in running:
        each.child.ask_to_end()
    for each in running:
        each.child.end(_END_PATIENCE_S)
    return tuple(
        each.ended(ran_s, status)
        for each, ran_s, status in zip(running, lasted, early, strict=True)
    )


def _run(
    neighbour: NeighbourModel, achieved: Achieved, ran_s: float, early: str | None
) -> NeighbourRun:
    return NeighbourRun(
        name=neighbour.name,
        level=neighbour.level,
        cpus=neighbour.cpus,
        cgroup=neighbour.cgroup,
        workers=neighbour.worker_count,
        niceness=neighbour.niceness,
        ran_s=ran_s,
        unit=achieved.unit,
        intensity=achieved.intensity,
        cpu_s=achieved.cpu_s,
        figures=dict(achieved.figures),
        program=achieved.program,
        unknown=achieved.unknown,
        ended_early=early,
    )


def _tasks(running: Sequence[_Running]) -> dict[int, str]:
    return {tid: each.neighbour.name for each in running for tid in session_tasks(each.child.pid)}


def _placing(neighbour: NeighbourModel, resctrl_tasks: Path | None) -> tuple[str, ...]:
    """What leads the program to its place; isolated, so that nothing else is imported."""
    cgroup = "" if neighbour.cgroup is None else str(cgroup_folder(neighbour.cgroup))
    cpus = ",".join(str(cpu) for cpu in neighbour.cpus)
    tasks = "" if resctrl_tasks is None else str(resctrl_tasks)
    script = str(Path(placed.__file__))
    return (sys.executable, "-I", "-S", script, str(neighbour.niceness), cpus, cgroup, tasks, "--")


def _work_folder(place: int, neighbour: NeighbourModel, ledger: Ledger) -> Path:
    """A folder of its own, which goes with the ledger wherever it is."""
    folder = (neighbour.work_directory or ledger.directory) / f"plimsoll-{ledger.id}-noise-{place}"
    if neighbour.work_directory is not None:
        ledger.note_path(folder)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise MachineError(
            f"cannot make {folder}: {error.strerror}",
            where=f"noise[{place}].directory",
            remedy="name a directory that can be written",
        ) from error
    return folder


def _end_whole(child: Child) -> None:
    """End it and what it leaves in its session and process group, which are its own."""
    child.end(_END_PATIENCE_S)
    deadline = time.monotonic() + _END_PATIENCE_S
    # What is killed takes a moment to be gone, and to be gone is what it must be.
    while session_processes(child.pid) and time.monotonic() < deadline:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(_POLL_S)


# The processes and threads of a session, by what the kernel says of each process.
def session_processes(leader: int, proc: Path = _PROC) -> tuple[int, ...]:
    """The processes in the session of `leader` that have not ended, itself among them."""
    return tuple(pid for pid in _pids(proc) if _is_in(pid, leader, proc))


def session_tasks(leader: int, proc: Path = _PROC) -> tuple[int, ...]:
    """All threads of those processes, by id."""
    return tuple(
        tid for pid in session_processes(leader, proc) for tid in _pids(proc / str(pid) / "task")
    )


def _pids(folder: Path) -> Iterator[int]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    yield from (int(name) for name in names if name.isdigit())


def _is_in(pid: int, leader: int, proc: Path) -> bool:
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()
    return int(fields[_SESSION]) == leader and fields[_STATE] not in "ZX"
