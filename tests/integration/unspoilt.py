"""Trials that must be valid: where the machine has spoilt one, its test is tried again.

What is done then is in tests/tried_again.py.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import TESTER_COULD_NOT_TELL
from tests.integration.command import Workplace, finished_trials, journal
from tests.integration.vm.nic_guest import Ended, NicGuest
from tests.tried_again import SpoiltByMachine

# Of the tester's findings, those that a machine comes to whose CPUs others take.
BY_THE_MACHINE = frozenset(
    {
        *("offered-rate", "late-probes", "runtime", "stall", "stalled-share", "own-share"),
        *("absent-frames", "tester-losses", "unread-frames", "stale-frames"),
    }
)
# Those that are a mistake of ours, or were provoked. Others follow from what was found besides.
OURS = frozenset(
    {"no-buffer", "negative-loss", "link", "next-hop-moved", "noise", "truncated-frames"}
)
# Counters of the DUT and the tester cannot agree where the tester's port had no room for frames.
_COUNTERS, _EXPLAIN_COUNTERS = "dut-counters", frozenset({"unread-frames", "stale-frames"})


def unspoilt(
    place: Workplace, *words: object, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """`place.run` of a command with --runs or --resume.

    Raises SpoiltByMachine where its tester could not tell, and the machine is the reason; and
    where a run of somebody else's polls the CPUs, once that has ended.
    """
    runs = _Runs.of(words)
    try:
        done = place.run(*words, prefix=prefix)
    except SpoiltByMachine:
        _put_aside(runs.touched())
        raise
    refuse_spoilt(runs.touched(), done.returncode)
    return done


def unspoilt_in_guest(guest: NicGuest, arguments: str, path: Path = Path("/usr/bin")) -> Ended:
    """The same of `guest.plimsoll`, whose runs are in the folder that it shares."""
    shared = str(guest.folder / "shared")
    runs = _Runs.of([each.replace("/shared", shared, 1) for each in arguments.split()])
    done = guest.plimsoll(arguments, path)
    refuse_spoilt(runs.touched(), done.status)
    return done


def refuse_spoilt(runs: Sequence[Path], code: int) -> None:
    """The same of a command that has ended with this code, and of its runs, which are put aside."""
    if code == TESTER_COULD_NOT_TELL:
        reasons = [spoilt_by(run) for run in runs]
        known = [each for each in reasons if each is not None]
        if known and len(known) == len(reasons):
            _put_aside(runs)
            raise SpoiltByMachine(known[0])


def refuse_repeated(run: Path) -> None:
    """Raise SpoiltByMachine where a run has trials that the machine spoilt, and that it repeated.

    For tests of the course of a search, which is another one then.
    """
    if reason := spoilt_by(run):
        _put_aside([run])
        raise SpoiltByMachine(reason)


def _put_aside(runs: Sequence[Path]) -> None:
    """Out of their folder, which the next attempt may use, too."""
    for run in runs:
        aside = run.parent.with_name(f"{run.parent.name}-spoilt")
        aside.mkdir(exist_ok=True)
        run.rename(aside / f"{len(list(aside.iterdir()))}-{run.name}")


@dataclass(frozen=True)
class _Runs:
    """Those of a command: the one that it resumes, or what is new in its folder of runs."""

    resumed: Path | None
    folder: Path
    known: frozenset[Path]

    @classmethod
    def of(cls, words: Sequence[object]) -> _Runs:
        if "--resume" in words:
            run = Path(str(words[words.index("--resume") + 1]))
            return cls(run, run.parent, frozenset())
        folder = Path(str(words[words.index("--runs") + 1]))
        return cls(None, folder, frozenset(folder.iterdir() if folder.exists() else ()))

    def touched(self) -> list[Path]:
        if self.resumed is not None:
            return [self.resumed]
        there = self.folder.iterdir() if self.folder.exists() else ()
        return [each for each in there if each not in self.known]


def spoilt_by(run: Path) -> str | None:
    """What the machine did to a run whose tester could not tell; None where it was not that."""
    if any(event["kind"] == "died" for event in journal(run)):
        return None
    return machines_doing(each for each in finished_trials(run) if each["verdict"] == "invalid")


def machines_doing(invalid: Iterable[dict[str, Any]]) -> str | None:
    """The first reason that lies with the machine, of the records of invalid trials; else None."""
    trials = [[f for f in trial["findings"] if f["outcome"] == "invalid"] for trial in invalid]
    if not all(_is_the_machines({each["rule"] for each in found}) for found in trials):
        return None
    texts = [f["text"] for found in trials for f in found if f["rule"] in BY_THE_MACHINE]
    return texts[0] if texts else None


def _is_the_machines(rules: set[str]) -> bool:
    explained = _COUNTERS not in rules or bool(rules & _EXPLAIN_COUNTERS)
    return bool(rules & BY_THE_MACHINE) and not rules & OURS and explained
