"""A run whose system calls fail at chosen places, and what is left of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from plimsoll.errors import INTERNAL_FAULT
from plimsoll.record.index.find import read_index
from plimsoll.record.run.file_check import check_run
from tests.integration.parallel.faults.fault_case import FaultCase

ROOT = Path(__file__).parents[4]
EXPERIMENT = """\
name: faults
lab: {kind: simulated, model: {kind: fixed-capacity, capacity: 50kpps}}
profile: {streams: [{name: load, role: load}, {name: probe, role: latency, rate: 1kpps}]}
trial: {drain: 100ms, warmup: null}
search: {strategy: binary, minimum: 10kpps, maximum: 80kpps, granularity: 50%, duration: 1s,
  validation: {duration: 2s}}
"""
_ENDS = frozenset({0, *range(2, INTERNAL_FAULT + 1)})
_INJECTED = "(INJECTED)"
# DuckDB aborts the process where these are there and cannot be read, which no one can catch.
_DUCKDB_NEEDS = frozenset({"cgroup"})


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


class Nursery:
    """Runs the command in folders, with or without strace."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, folder: Path, *words: str, strace: Sequence[str] | None = None) -> Ended:
        """`plimsoll` with these words."""
        environment = {
            **{name: text for name, text in os.environ.items() if name != "PLIMSOLL_TRACEBACK"},
            **{"PLIMSOLL_STATE": str(folder / "state"), "PYTHONHASHSEED": "0"},
        }
        request: dict[str, Any] = {"words": words, "folder": str(folder), "strace": strace}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({**request, "environment": environment}), file=self._process.stdin)
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))


@contextmanager
def nursery() -> Iterator[Nursery]:
    """One for the length of a `with`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.integration.parallel.faults.nursery"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()


def fresh(folder: Path) -> Path:
    """An empty folder with the experiment in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "e.yaml").write_text(EXPERIMENT)
    return folder


def trace_of(nursery: Nursery, folder: Path) -> list[str]:
    """The calls of a run without a fault."""
    trace = fresh(folder) / "trace"
    ended = nursery.run(folder, "run", "e.yaml", strace=["-o", str(trace)])
    assert (ended.status, wrong_with(nursery, folder)) == (0, []), ended.err
    return trace.read_text(errors="replace").splitlines()


def mistakes(nursery: Nursery, folder: Path, case: FaultCase) -> list[str]:
    """What is not as it should be after a run in which that call failed."""
    trace = fresh(folder) / "trace"
    options = ["-o", str(trace), "-e", f"trace={case.call}", "-e", case.injection]
    ended = nursery.run(folder, "run", "e.yaml", strace=options)
    hit = [each for each in trace.read_text(errors="replace").splitlines() if _INJECTED in each]
    found = [*_ended_wrongly(ended, case), *wrong_with(nursery, folder)]
    return [f"{case} [{''.join(hit)[:160]}]: {each}" for each in found]


def _ended_wrongly(ended: Ended, case: FaultCase) -> Iterator[str]:
    if ended.status == -signal.SIGABRT and case.kind in _DUCKDB_NEEDS:
        return
    said = f"{ended.status}, {ended.err.strip()[-600:]!r}"
    if ended.status not in _ENDS:
        yield f"ended with {said}"
    if ended.status and not ended.err.strip():
        yield f"said nothing, and ended with {said}"
    if "Traceback (most" in ended.err:
        yield f"showed a traceback: {said}"


def wrong_with(nursery: Nursery, folder: Path) -> list[str]:
    """What is left must be a whole record, one that is resumed to its end, or nothing."""
    runs = folder / "runs"
    entries = list(read_index(runs)) if runs.is_dir() else []
    found = [f"the run is {each.state}: {each.damage}" for each in entries if each.damage]
    for entry in entries:
        if entry.state == "stopped" and not entry.damage:
            ended = nursery.run(folder, "run", "--resume", str(entry.run.path))
            if ended.status != 0:
                found.append(f"resumed, it ended with {ended.status}, {ended.err.strip()[-400:]!r}")
    for path in runs.iterdir() if runs.is_dir() else ():
        if path.name not in {entry.run_id for entry in entries}:
            found.append(f"left behind: {path.name} with {[each.name for each in path.iterdir()]}")
    for entry in read_index(runs) if runs.is_dir() and not found else ():
        found += [f"{entry.state}: {damage}" for damage in check_run(entry.run)]
    left = [p.name for p in (folder / "state").glob("[!.]*")] if (folder / "state").exists() else []
    return found + [f"left in the state folder: {each}" for each in left]
