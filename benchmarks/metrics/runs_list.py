"""How long it takes to list a thousand runs.

`python benchmarks/metrics/runs_list.py` makes runs from one that a simulated DUT gave (its
experiment, journal and result; a list reads nothing else) and prints, in ms, least, median
and most of: the first list of runs without a summary, which makes the summaries; later lists;
lists whose runs all have tags; and the command `plimsoll runs` as a whole, next to
`plimsoll --version`, which is the time that any command takes to start.
"""

from __future__ import annotations

import argparse
import io
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.record.index.find import in_order, read_index
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.index.run_summary import summary_file
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.commands.running import Progress
from plimsoll.terminal.tables.runs_table import RunsTable

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def make_runs(root: Path, count: int) -> None:
    """`count` runs, a minute apart, with the record of one real search."""
    experiment = Experiment.model_validate(
        {
            "name": "demo",
            "lab": {"kind": "simulated", "model": {"kind": "rare-stalls"}},
            "profile": {"streams": [{"name": "load", "role": "load"}]},
            "search": {"strategy": "load-line", "minimum": "50kpps", "maximum": "2Mpps"},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory.create(Path(folder), "demo", experiment.normalised())
        find_load_line(experiment, run, Progress(Console(file=io.StringIO()), None))
        for number in range(count):
            made = f"{_FIRST + timedelta(minutes=number):%Y%m%dT%H%M%S}-demo"
            (root / made).mkdir(parents=True)
            for part in (run.experiment, run.journal, run.result):
                shutil.copy(part, root / made / part.name)
        trials = run.journal.stat().st_size
        print(f"{count:,} runs, each with a journal of {trials / 1000:.0f} kB")


def list_once(root: Path) -> int:
    """As the command does it, to the printed table."""
    entries = list(read_index(root))
    console = Console(file=io.StringIO(), width=100)
    console.print(RunsTable(in_order(entries, "began"), datetime.now(UTC)))
    return len(entries)


def times_ms(work: Callable[[], object], repeats: int) -> list[float]:
    """How long each of the repetitions took."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e3)
    return taken


def row(name: str, taken: Sequence[float]) -> None:
    """Least, median and most, in ms."""
    print(f"{name:42}{min(taken):10.1f}{statistics.median(taken):10.1f}{max(taken):10.1f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        make_runs(root, options.runs)
        command = [sys.executable, "-m", "plimsoll.cli"]
        print(f"{'ms':42}{'least':>10}{'median':>10}{'most':>10}")
        row("first list, summaries made", times_ms(lambda: list_once(root), 1))
        row("read the index", times_ms(lambda: list(read_index(root)), options.repeats))
        row("read and print the table", times_ms(lambda: list_once(root), options.repeats))
        for path in root.iterdir():
            change_notes(RunDirectory(path), lambda known: known.tagged({"kernel": "6.1"}))
        row("with a tag on each", times_ms(lambda: list_once(root), options.repeats))
        called = [*command, "runs", "--runs", str(root)]
        row("plimsoll runs", times_ms(lambda: _call(called), 5))
        row("plimsoll --version", times_ms(lambda: _call([*command, "--version"]), 5))
        for path in root.iterdir():
            summary_file(RunDirectory(path)).unlink()
        row("summaries made again", times_ms(lambda: list_once(root), 1))


def _call(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command


if __name__ == "__main__":
    main()
