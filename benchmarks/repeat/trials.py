"""How many trials at a modest load are valid on this machine, and what Plimsoll takes itself.

`python -m benchmarks.repeat.trials`, from the repository's root, runs 20 trials of 5 s at
300 kpps per direction through the demo's lab. The aim on two shared CPUs: at least 19 valid.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.repeat.recorded_runs import (
    broken_rules,
    own_share,
    run_plimsoll,
    stalled_share,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--load", default="300kpps")
    parser.add_argument("--duration", default="5s")
    options = parser.parse_args(arguments)
    command = [
        "trial",
        "examples/demo.yaml",
        "--load",
        options.load,
        "--duration",
        options.duration,
    ]
    valid, own, stalled = 0, [], []
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        for number in range(1, options.trials + 1):
            (trial,) = run_plimsoll(command, Path(folder)).judged
            valid += trial["verdict"] != "invalid"
            own.append(own_share(trial))
            stalled.append(stalled_share(trial))
            print(
                f"{number:>3}  {trial['verdict']:<8} own {own[-1]:8.4%}  stalled {stalled[-1]:7.2%}"
                f"  {', '.join(broken_rules(trial))}",
                flush=True,
            )
    print(f"\nvalid: {valid} of {options.trials}")
    for name, shares in (("own share of the polled CPUs", own), ("loop stalled", stalled)):
        print(f"{name}: min {min(shares):.4%}, median {median(shares):.4%}, max {max(shares):.4%}")


if __name__ == "__main__":
    main()
