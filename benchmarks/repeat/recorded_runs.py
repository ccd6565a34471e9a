"""A run of the installed plimsoll in a process of its own, and what it left on record."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLIMSOLL = Path(".venv/bin/plimsoll")
_JUDGED = ("pass", "fail", "invalid")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run: its trials as the journal has them, its result if there is one, its length."""

    trials: tuple[dict[str, Any], ...]
    result: dict[str, Any] | None
    seconds: float

    @property
    def judged(self) -> list[dict[str, Any]]:
        """The trials that have a verdict."""
        return [trial for trial in self.trials if trial["verdict"] in _JUDGED]

    @property
    def invalid(self) -> list[dict[str, Any]]:
        """Those of them that the tester spoiled."""
        return [trial for trial in self.judged if trial["verdict"] == "invalid"]

    @property
    def load_line_pps(self) -> float | None:
        """Per direction; None where none was found."""
        line = (self.result or {}).get("load_line")
        return None if line is None else float(line["pps_per_direction"])


def run_plimsoll(arguments: Sequence[str], runs: Path) -> RecordedRun:
    """Run a command that leaves one run in the folder `runs`, and read that."""
    before = set(runs.glob("*"))
    began = time.monotonic()
    subprocess.run(  # noqa: S603 - an argument vector, no shell
        [str(PLIMSOLL), *arguments, "--runs", str(runs)],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seconds = time.monotonic() - began
    (folder,) = set(runs.glob("*")) - before
    result = folder / "result.json"
    return RecordedRun(
        trials=tuple(_trials(folder / "journal.jsonl")),
        result=json.loads(result.read_text()) if result.exists() else None,
        seconds=seconds,
    )


def own_share(trial: dict[str, Any]) -> float:
    """What Plimsoll's own processes took of the polled CPUs; 0 where nothing was polled."""
    own = trial.get("own")
    return 0.0 if own is None else float(own["share"])


def stalled_share(trial: dict[str, Any]) -> float:
    """Of the tester's loop that was away most."""
    return max(
        float(each["stalled_ns"]) / 1e9 / float(trial["sending_s"]) for each in trial["workers"]
    )


def broken_rules(trial: dict[str, Any]) -> list[str]:
    """The rules that made its verdict."""
    findings = (each for each in trial["findings"] if each["outcome"] == trial["verdict"])
    return list(dict.fromkeys(each["rule"] for each in findings))


def _trials(journal: Path) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    return [event["trial"] for event in events if "trial" in event and "findings" in event["trial"]]
