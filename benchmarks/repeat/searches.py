"""How well the demo's search repeats on this machine: ten times in a row.

`python -m benchmarks.repeat.searches`, from the repository's root, prints each run and their
spread; with `--busy` next to one ordinary busy process on each CPU. The aims on two shared
CPUs: quiet, (p90 - p10) / p50 of the load lines at most 10 %, at most 10 % of trials invalid,
and 0.1 % of the polled CPUs taken by Plimsoll itself; busy, eight of ten with a load line.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median, quantiles

from benchmarks.repeat.busy_cpus import busy_processes
from benchmarks.repeat.recorded_runs import RecordedRun, own_share, run_plimsoll


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--experiment", default="examples/demo.yaml")
    parser.add_argument("--validation", help="instead of the experiment's own length")
    options = parser.parse_args(arguments)
    command = ["run", options.experiment]
    if options.validation:
        command += ["--validation", options.validation]
    runs = []
    with (
        busy_processes() if options.busy else nullcontext(),
        tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder,
    ):
        for number in range(1, options.runs + 1):
            runs.append(run_plimsoll(command, Path(folder)))
            print(f"{number:>3}  {_line(runs[-1])}", flush=True)
    print(f"\n{'next to one busy process per CPU' if options.busy else 'quiet'}")
    _print_summary(runs)


def _line(run: RecordedRun) -> str:
    line_pps = run.load_line_pps
    found = "no load line  " if line_pps is None else f"{line_pps / 1e6:6.3f} Mpps   "
    limited = (run.result or {}).get("limited_by") or "-"
    return (
        f"{found}limited by {limited:<8} trials {len(run.judged):>2}, "
        f"invalid {len(run.invalid):>2}, own {_worst_own(run):7.3%}, {run.seconds:5.0f} s"
    )


def _worst_own(run: RecordedRun) -> float:
    return max((own_share(trial) for trial in run.judged), default=0.0)


def _print_summary(runs: Sequence[RecordedRun]) -> None:
    lines = [run.load_line_pps for run in runs if run.load_line_pps is not None]
    judged = [trial for run in runs for trial in run.judged]
    invalid = sum(len(run.invalid) for run in runs)
    seconds = [run.seconds for run in runs]
    print(f"load line found: {len(lines)} of {len(runs)}")
    if len(lines) > 1:
        tenths = quantiles(lines, n=10, method="inclusive")
        middle = median(lines)
        print(
            f"load line, Mpps: min {min(lines) / 1e6:.3f}, median {middle / 1e6:.3f}, "
            f"max {max(lines) / 1e6:.3f}; (p90 - p10) / p50 {(tenths[-1] - tenths[0]) / middle:.1%}"
        )
    print(f"invalid trials: {invalid} of {len(judged)}, {invalid / max(1, len(judged)):.1%}")
    own = [own_share(trial) for trial in judged]
    print(f"own share of the polled CPUs: median {median(own):.4%}, max {max(own):.4%}")
    print(
        f"seconds a run: min {min(seconds):.0f}, median {median(seconds):.0f}, "
        f"max {max(seconds):.0f}"
    )


if __name__ == "__main__":
    main()
