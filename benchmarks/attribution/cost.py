"""What recording kernel events costs the measurement: trials with and without, by turns.

`python -m benchmarks.attribution.cost`, from the repository's root, runs pairs of 5 s trials of
the demo's lab at 1 and at 3 Mpps per direction, one of each pair with kernel events and one
without; which comes first changes from pair to pair. It prints what was received, the loss,
p99.9 of the probe and the share of the polled CPUs that Plimsoll's own processes took. On a
machine that others use too only a difference beyond the spread says something.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from benchmarks.repeat.recorded_runs import own_share, run_plimsoll

_DEMO = Path("examples/demo.yaml")
_KINDS = {True: "with events", False: "without"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One trial: frames/s received per direction, loss as a share, p99.9 and our own share."""

    received_pps: float
    loss_ratio: float
    p99_9_us: float
    own_share: float


# How a figure is called, its name in Measured, and how it is written.
_FIGURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("received Mpps", "received_pps", lambda value: f"{value / 1e6:.4f}"),
    ("loss", "loss_ratio", lambda value: f"{value:.4%}"),
    ("p99.9 us", "p99_9_us", lambda value: f"{value:.1f}"),
    ("own share", "own_share", lambda value: f"{value:.4%}"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--loads", nargs="+", default=["1Mpps", "3Mpps"])
    parser.add_argument("--duration", default="5s")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        experiments = {on: _experiment(Path(folder), on) for on in _KINDS}
        for load in options.loads:
            found: dict[bool, list[Measured]] = {True: [], False: []}
            for pair in range(options.pairs):
                for on in (True, False) if pair % 2 == 0 else (False, True):
                    words = ["trial", str(experiments[on]), "--load", load]
                    words += ["--duration", options.duration]
                    found[on].append(_measured(run_plimsoll(words, Path(folder) / "runs").judged))
            print(f"{load} per direction, {options.pairs} pairs of {options.duration}")
            print_table(found)


def print_table(found: dict[bool, list[Measured]]) -> None:
    """Least, median and most of each figure, and the median of the ratios within a pair."""
    for title, name, written in _FIGURES:
        values = {on: [getattr(each, name) for each in found[on]] for on in _KINDS}
        spread = "   ".join(
            f"{kind} {written(min(values[on]))} / {written(median(values[on]))} / "
            f"{written(max(values[on]))}"
            for on, kind in _KINDS.items()
        )
        pairs = zip(values[True], values[False], strict=True)
        ratios = [on / off for on, off in pairs if off > 0]
        print(f"  {title:<14} {spread}   ratio {_ratio(ratios)}", flush=True)


def _ratio(ratios: Sequence[float]) -> str:
    if not ratios:
        return "-"
    return f"{min(ratios):.3f} / {median(ratios):.3f} / {max(ratios):.3f}"


def _experiment(folder: Path, events: bool) -> Path:
    """The demo's, with kernel events or without."""
    experiment = yaml.safe_load(_DEMO.read_text(encoding="utf-8"))
    path = folder / f"{'with' if events else 'without'}.yaml"
    path.write_text(yaml.safe_dump({**experiment, "observe": {"kernel_events": events}}))
    return path


def _measured(trials: Sequence[dict[str, Any]]) -> Measured:
    (trial,) = trials
    load = [each for each in trial["streams"] if each["role"] == "load"]
    (probe,) = (each for each in trial["streams"] if each["role"] == "latency")
    sent = sum(each["sent"] for each in load)
    return Measured(
        received_pps=sum(each["received"] for each in load) / trial["sending_s"] / len(load),
        loss_ratio=sum(each["lost"] for each in load) / sent if sent else 0.0,
        p99_9_us=probe["latency"]["p99_9_ns"] / 1e3,
        own_share=own_share(trial),
    )


if __name__ == "__main__":
    main()
