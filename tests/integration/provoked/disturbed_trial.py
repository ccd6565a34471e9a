"""One trial of the real testpmd lab while a process of ours takes a polling loop's CPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from plimsoll.record.causes.causes_record import ExplainedIncident, TrialCauses, read_causes
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.command import QUICK, ROOT, Workplace, assert_goes_on, finished_trials, until

SOURCE = Path(__file__).parent / "disturber.c"
UNBOUNDED = "tests.integration.provoked.unbounded_plimsoll"
ENGINE_CPU, DUT_CPU = 0, 1
LOAD = "300kpps"
DURATION_S = 12
# What came at the very begin or end may have hit no loop, or no frame.
_MARGIN_S = 0.1
# Short intervals list more: each lists the worst 16 of a stream and of a loop.
EXPERIMENT: dict[str, Any] = {
    "profile": {
        "streams": [
            {"name": "load", "role": "load", "flows": 64},
            {"name": "probe", "role": "latency", "rate": "2kpps", "direction": "unidirectional"},
        ]
    },
    "trial": {**QUICK["trial"], "interval": "100ms"},
    "lab": {"kind": "testpmd-memif", "cpu": DUT_CPU},
    "generator": {"kind": "engine", "cpus": [ENGINE_CPU]},
}


@dataclass(frozen=True)
class Provoked:
    """A time that a disturber wrote down, in ticks of the time stamp counter.

    It lasted from begin to end at least and `most_ns` at most; 0 where that is not known.
    """

    name: str
    begin_tsc: int
    end_tsc: int
    most_ns: int

    def ns(self, tsc_hz: float) -> float:
        return (self.end_tsc - self.begin_tsc) / tsc_hz * 1e9


@dataclass(frozen=True)
class DisturbedTrial:
    """What the trial's record says, and what was provoked while it sent."""

    record: dict[str, Any]
    causes: TrialCauses
    provoked: tuple[Provoked, ...]
    disturber_pid: int | None
    pids: dict[str, int]

    def named(self, name: str) -> list[Provoked]:
        return [each for each in self.provoked if each.name == name]

    def incidents(self, *kinds: str) -> list[ExplainedIncident]:
        return [each for each in self.causes.incidents if each.kind in kinds]


def built_disturber(folder: Path) -> Path:
    """The disturber, compiled into a folder."""
    program = folder / "disturber"
    words = ["-std=c17", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run(["cc", *words, str(SOURCE), "-o", str(program)], check=True)
    return program


def built_spinning_handler(folder: Path) -> Path:
    """What makes dpdk-testpmd spin in a signal handler, for LD_PRELOAD."""
    library = folder / "spinning_handler.so"
    words = ["-std=c17", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(
        ["cc", *words, str(SOURCE.with_name("spinning_handler.c")), "-o", str(library)], check=True
    )
    return library


Arguments = Callable[[dict[str, int]], Sequence[object]]


def disturbed_trial(
    place: Workplace,
    disturber: Path,
    arguments: Arguments | None,
    background: Callable[[dict[str, int]], AbstractContextManager[object]] | None = None,
    criteria: Sequence[dict[str, object]] = (),
    *,
    traced: bool = True,
    changes: Mapping[str, object] = MappingProxyType({}),
) -> DisturbedTrial:
    """Run one trial; `arguments` says, by the processes' ids, how the disturber is called.

    It is judged by `criteria` where some are given, else by the default ones. `changes` are of
    sections of the experiment.

    `background` is entered once the processes are there. A `traced` one skips where kernel events
    cannot be recorded.
    """
    judged_by = {"criteria": list(criteria)} if criteria else {}
    experiment = place.experiment(**{**EXPERIMENT, **judged_by, **changes})
    words = ["trial", experiment, "--load", LOAD]
    words += ["--duration", f"{DURATION_S}s", "--runs", place.runs, "--json"]
    with _running([sys.executable, "-m", UNBOUNDED, *map(str, words)], place) as command:
        pids = _processes(place, command)
        with background(pids) if background else nullcontext():
            pid, output = _until_it_ends(command, place, disturber, arguments, pids)
    # A trial that was repeated has a run of its own.
    run = max(place.runs.iterdir())
    record = finished_trials(run)[-1]
    causes = read_causes(RunDirectory(run))[-1]
    if traced and causes.trace.unavailable is not None:
        pytest.skip(f"no kernel events: {causes.trace.unavailable}")
    begin, end = _sending(record, causes)
    times = [_provoked(*line.split()) for line in output.splitlines()]
    hit = tuple(each for each in times if begin <= each.begin_tsc and each.end_tsc <= end)
    return DisturbedTrial(record, causes, hit, pid, pids)


def _until_it_ends(
    command: subprocess.Popen[str],
    place: Workplace,
    disturber: Path,
    arguments: Arguments | None,
    pids: dict[str, int],
) -> tuple[int | None, str]:
    """The disturber's process and what it wrote down."""
    if arguments is None:
        _, said = command.communicate(timeout=300)
        assert command.returncode in (0, 1, 5), said
        return None, ""
    with _running([str(disturber), *map(str, arguments(pids))], place) as process:
        _, said = command.communicate(timeout=300)
        assert command.returncode in (0, 1, 5), said
        output, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints
    return process.pid, output


@contextmanager
def _running(argv: Sequence[str], place: Workplace) -> Iterator[subprocess.Popen[str]]:
    """Ended in any case: what a failed test left running would fail the next ones."""
    process = subprocess.Popen(
        argv,
        cwd=ROOT,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _processes(place: Workplace, command: subprocess.Popen[str]) -> dict[str, int]:
    """The ids of the engine and of testpmd, as soon as both are there."""
    names = {"tester": "plimsoll-engine", "dut": "dpdk-testpmd"}

    def there() -> bool:
        assert_goes_on(command)
        return all(place.processes(name) for name in names.values())

    until(there, "the engine and testpmd")
    return {owner: place.processes(name)[0] for owner, name in names.items()}


def _provoked(name: str, begin: str, end: str, most_ns: str) -> Provoked:
    return Provoked(name, int(begin), int(end), int(most_ns))


def _sending(record: dict[str, Any], causes: TrialCauses) -> tuple[int, int]:
    """From when to when frames were sent, by the clock that the incidents tie together."""
    known = next(each for each in causes.incidents if each.begin_unix_ns is not None)
    assert known.begin_unix_ns is not None
    since_ns = record["begin_unix_ns"] - known.begin_unix_ns

    def tsc(after_s: float) -> int:
        return known.begin_tsc + round((since_ns / 1e9 + after_s) * causes.tsc_hz)

    return tsc(_MARGIN_S), tsc(record["sending_s"] - _MARGIN_S)
