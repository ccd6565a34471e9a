"""Our engine against dpdk-testpmd and against the truth: prints a table, writes it as JSON.

Run it from the repository's root, or by `make bench`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from bench_bed import BenchBed, bench_bed
from contest import Contest, Row, hold
from contests.accuracy import accuracy_contests
from contests.cycle_budget import budget_contest
from contests.frame_check import frame_check_contest
from contests.null_ports import null_contests
from contests.pacing import QUOTED, pacing_contests
from contests.per_flow import per_flow_contest
from contests.ring_loopback import ring_contest
from contests.scaling import scaling_contest
from contests.through_dut import dut_contest
from planning import plan_table
from rich.console import Console
from row_file import write_rows
from row_table import row_table

from plimsoll.errors import InputError, Interrupted, PlimsollError
from plimsoll.host.ledger.ledger import sweep

_INTERRUPTED = 130
_BUILD = Path("build/bench")

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> int:
    """Run what the command line asks for; the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end_cleanly)
    options = _options()
    try:
        _run(options)
    except PlimsollError as error:
        stderr.print(str(error), markup=False)
        return error.exit_code
    except Interrupted:
        return _INTERRUPTED
    return 0


def _run(options: argparse.Namespace) -> None:
    sweep()
    with bench_bed(options.generator_cpu, options.other_cpu, options.seconds) as bed:
        rows: list[Row] = []
        for contest in _chosen(_contests(bed, options), options.only):
            rows += hold(contest, options.rounds, lambda line: stderr.print(line, markup=False))
        write_rows(options.output, rows, bed, options.rounds)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    console.print(row_table(rows))
    if (plan := plan_table(rows)) is not None:
        console.print(plan)
    console.print(QUOTED, markup=False, soft_wrap=True)


def _contests(bed: BenchBed, options: argparse.Namespace) -> tuple[Contest, ...]:
    return (
        *null_contests(bed),
        ring_contest(bed),
        dut_contest(bed),
        budget_contest(bed),
        frame_check_contest(bed),
        per_flow_contest(bed),
        scaling_contest(bed),
        *pacing_contests(bed, options.gap_meter),
        *accuracy_contests(bed, options.delay_dut),
    )


def _chosen(contests: Sequence[Contest], names: Sequence[str]) -> Sequence[Contest]:
    known = [contest.name for contest in contests]
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no contest {name!r}",
                where="--only",
                remedy=f"choose from: {', '.join(known)}",
            )
    return [contest for contest in contests if contest.name in (names or known)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each contest (5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement (2)")
    parser.add_argument("--generator-cpu", type=int, default=0, help="both sides' (0)")
    parser.add_argument("--other-cpu", type=int, default=1, help="the DUT's (1)")
    parser.add_argument("--only", nargs="+", default=(), metavar="CONTEST", help="not all")
    parser.add_argument("--gap-meter", type=Path, default=_BUILD / "gap-meter", metavar="PROGRAM")
    parser.add_argument("--delay-dut", type=Path, default=_BUILD / "delay-dut", metavar="PROGRAM")
    parser.add_argument("--output", type=Path, default=_BUILD / "engine.json", metavar="FILE")
    return parser.parse_args()


def _end_cleanly(number: int, _: FrameType | None) -> NoReturn:
    raise Interrupted(signal.Signals(number).name)


if __name__ == "__main__":
    sys.exit(main())
