"""The command line as a user runs it, with a state directory of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from plimsoll.host.ledger.hugepage_claims import all_claims, claims_locked, pools
from plimsoll.host.ledger.shared_directory import ledger_uses
from tests.integration.turns import refuse_taken
from tests.integration.warm_start import run_warm
from tests.unit.record.published import schema_of

ROOT = Path(__file__).parents[2]

# Loads so low that even a machine whose CPUs are taken away for long carries them, and a
# tester that is always believed: these tests are about the record, not the measurement.
QUICK: dict[str, Any] = {
    "name": "quick",
    "profile": {
        "streams": [
            {"name": "load", "role": "load", "flows": 64},
            {"name": "probe", "role": "latency", "rate": "500pps", "direction": "unidirectional"},
        ]
    },
    "trial": {"drain": "200ms", "warmup": "200ms", "catch_up": "1s"},
    "tester": {
        "rate_tolerance": "50%",
        "runtime_tolerance": "50%",
        "max_stall": "60s",
        "max_stalled_share": "100%",
        "max_late_share": "100%",
    },
    "criteria": [{"kind": "loss-ratio"}, {"kind": "corrupt"}, {"kind": "misdirected"}],
    "search": {
        "strategy": "binary",
        "minimum": "1kpps",
        "maximum": "8kpps",
        "start": "2kpps",
        "granularity": "50%",
        "duration": "1s",
        "validation": {"duration": "3s"},
    },
}


class Workplace:
    """A folder for experiments, runs and state, and the command in it."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder = folder
        self.state = state
        self.runs = folder / "runs"
        self.environment = {**os.environ, "PLIMSOLL_STATE": str(state), "COLUMNS": "200"}

    def experiment(self, **changes: Any) -> Path:
        path = self.folder / "quick.yaml"
        path.write_text(yaml.safe_dump({**QUICK, **changes}))
        return path

    def argv(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "plimsoll.cli", *(str(word) for word in words)]

    def run(self, *words: object, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """It has ended. Raises SpoiltByMachine where others poll its CPUs, once they do not."""
        if not prefix:
            done = run_warm(words, ROOT, self.environment)
        else:
            done = subprocess.run(
                [*prefix, *self.argv(*words)],
                cwd=ROOT,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        refuse_taken(done.stderr)
        return done

    def start(self, *words: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*words),
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def only_run(self) -> Path:
        (run,) = self.runs.iterdir()
        return run

    def journal_so_far(self) -> list[dict[str, Any]]:
        """The whole lines of the only run's journal; none before there is a run."""
        begun = list(self.runs.iterdir()) if self.runs.exists() else []
        return journal(self.only_run()) if begun else []

    def processes(self, name: str = "") -> list[int]:
        """The processes of this workplace's labs, by their environment."""
        mark = f"RUNTIME_DIRECTORY={self.state}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
                ours = mark in (entry / "environ").read_bytes()
                named = name in (entry / "comm").read_text()
            except OSError:
                continue
            if alive and ours and named:
                found.append(int(entry.name))
        return found


@contextmanager
def workplace(folder: Path) -> Iterator[Workplace]:
    """A workplace with a state path short enough for sockets; nothing may be left in it."""
    state = Path(tempfile.mkdtemp(prefix="pl-"))
    place = Workplace(folder, state)
    try:
        yield place
    finally:
        for pid in place.processes():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(state, ignore_errors=True)


def until(condition: Callable[[], bool], what: str, patience_s: float = 300) -> None:
    """Wait for something that must come; the patience only bounds a broken test."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"waited {patience_s:g} s in vain for {what}"
        time.sleep(0.05)


def journal(run: Path) -> list[dict[str, Any]]:
    """The whole lines of a run's journal."""
    path = run / "journal.jsonl"
    if not path.exists():
        return []
    return [
        json.loads(line) for line in path.read_text().splitlines(keepends=True) if line[-1:] == "\n"
    ]


def searching(place: Workplace, experiment: Path) -> subprocess.Popen[str]:
    """A run that has begun and has its first trial behind it."""
    process = place.start("run", experiment, "--runs", place.runs)

    def tried() -> bool:
        assert_goes_on(process)
        return any(event["kind"] == "trial" for event in place.journal_so_far())

    until(tried, "the first trial")
    return process


def assert_goes_on(process: subprocess.Popen[str]) -> None:
    """It has not ended. Raises SpoiltByMachine where it has as others poll its CPUs."""
    if process.poll() is not None:
        said = process.communicate()
        refuse_taken(said[1])
        raise AssertionError(said)


def finished_trials(run: Path) -> list[dict[str, Any]]:
    return [event["trial"] for event in journal(run) if event["kind"] == "trial"]


def kill_when(
    place: Workplace, words: Sequence[object], seen: Callable[[Path], bool], what: str
) -> list[dict[str, Any]]:
    """SIGKILL a command as soon as its run shows what is to be seen: the trials finished by then.

    Nothing but the run directory may be left of it.
    """
    before = hugepages()
    process = place.start(*words, "--runs", place.runs)

    def shown() -> bool:
        assert_goes_on(process)
        return place.runs.exists() and any(seen(run) for run in place.runs.iterdir())

    until(shown, what)
    process.kill()
    process.communicate()
    assert_nothing_is_left(place, before)
    assert not (place.only_run() / "result.json").exists()
    return finished_trials(place.only_run())


def assert_keeps_to_schema(document: object, name: str) -> None:
    """`document` is as the schema has it that is published as `name`."""
    jsonschema.Draft202012Validator(schema_of(name)).validate(document)


def assert_nothing_is_left(place: Workplace, hugepages_before: int) -> None:
    """No process, no socket or runtime file, no hugepage; the janitor may need a moment."""
    until(lambda: not place.processes(), "the processes to be gone")
    until(lambda: not list(place.state.iterdir()), "the state directory to be empty")
    until(lambda: hugepages() == hugepages_before, "the hugepages to be given back")
    until(lambda: not shared_files(place), "what it promised other runs to be withdrawn")


def shared_files(place: Workplace) -> list[Path]:
    """What ledgers of this workplace tell the machine's other runs."""
    found = []
    for path in Path("/dev/shm").glob("plimsoll.*.use"):
        with suppress(FileNotFoundError):
            if str(place.state) in path.read_text():
                found.append(path)
    return found


def hugepages() -> int:
    """Pages of the smallest pool but for those that living runs and labs have added to it."""
    if not (sizes := pools()):
        return 0
    pool = sizes[0]
    living = {use.ledger_id for use in ledger_uses() if use.alive}
    with claims_locked(pool.directory.parent):
        added = sum(
            claim.added
            for each in all_claims()
            for claim in each.claims
            if each.ledger_id in living and Path(claim.pool) == pool.directory
        )
        return pool.total - added
