"""How large a soak's record is while it grows, and how much memory the soak takes.

`python benchmarks/soak_record.py --hours 8` runs a soak on a simulated DUT, in simulated
time, and prints a row an hour: the run directory on disk (the most at any moment of that
hour), Python's memory by tracemalloc with --trace (which makes it three times as slow), and
the resident memory.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.methods.soak.run import run_soak
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import parse_rate

_HOUR_S = 3600.0
_LOOK_S = 10.0


def busy_experiment(model: str) -> Experiment:
    """Two directions of load and of probes through a simulated DUT."""
    return Experiment.model_validate(
        {
            "name": "soak-record",
            "lab": {"kind": "simulated", "model": {"kind": model}},
            "profile": {
                "streams": [
                    {"name": "load", "role": "load"},
                    {"name": "probe", "role": "latency", "rate": "1000pps"},
                ]
            },
            "search": {"strategy": "binary", "minimum": "50kpps", "maximum": "2Mpps"},
        }
    )


class Gauge:
    """A ProgressListener that measures the record and this process every ten simulated seconds."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._hour = 0
        self._looked_s = 0.0
        self._largest = 0
        self._began = time.monotonic()

    def note(self, text: str) -> None:
        """Windows are reported as well; their verdicts are of no interest here."""
        if text.startswith("SIMULATED"):
            print(text)

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """Start anew."""
        self._hour, self._looked_s = 0, 0.0

    def interval(self, interval: Interval) -> None:
        """Look now and then, and print a row at the end of each hour."""
        if interval.end_s < self._looked_s + _LOOK_S:
            return
        self._looked_s = interval.end_s
        self._largest = max(self._largest, size_of(self._run.path))
        if interval.end_s >= (self._hour + 1) * _HOUR_S - _LOOK_S:
            self._hour += 1
            gc.collect()
            taken = time.monotonic() - self._began
            print(f"{self._hour:>4} h  {self.row()}  after {taken:.0f} s", flush=True)
            self._largest = 0

    def trial_ended(self, record: TrialRecord) -> None:
        """The rows have said it."""

    def row(self) -> str:
        """The figures of now."""
        traced = tracemalloc.get_traced_memory()[0] / 1e6 if tracemalloc.is_tracing() else 0.0
        return (
            f"record {self._largest / 1e6:6.1f} MB at most, python {traced:6.2f} MB, "
            f"resident {resident_mb():6.1f} MB"
        )


def size_of(folder: Path) -> int:
    """The bytes of a file, or of all files in a folder that stay long enough."""
    total = 0
    for path in (folder, *folder.rglob("*")):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def resident_mb() -> float:
    """This process's resident memory, by the kernel."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1e3


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the soak and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=8.0)
    # A tester that stalls has the most to record: spikes, gaps, samples across stalls.
    parser.add_argument("--model", default="stalling-tester")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args(arguments)
    if options.trace:
        tracemalloc.start()
    experiment = busy_experiment(options.model)
    settings = SoakSettings(
        load=parse_rate("500kpps"), duration_s=options.hours * _HOUR_S, window_s=300.0
    )
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory.create(Path(folder), "soak", experiment.normalised())
        result = run_soak(experiment, settings, run, Gauge(run))
        windows = result.windows
        print(f"{windows.passed} windows passed, {windows.invalid} were invalid")
        for path in sorted(run.path.iterdir()):
            print(f"  {path.name:<20} {size_of(path):>12,} B")


if __name__ == "__main__":
    main()
