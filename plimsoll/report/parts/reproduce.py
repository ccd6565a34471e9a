"""How to run the same again, and where the raw figures of a page lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.benchmark.session.run_start import recorded_settings
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.run.environment import Environment
from plimsoll.record.run.journal import JournalContents

_RATES = ("load", "rate")
_FILES = (
    ("journal.jsonl", "every event and every trial with its findings, as it happened"),
    ("result.json", "the answer, for programs"),
    ("metrics/*.parquet", "every series: plimsoll metrics get --run RUN"),
    ("histograms.hlog", "all latency samples, HdrHistogram interval log"),
    ("spikes.parquet", "stalls and worst latencies with their times"),
    ("causes/*.json", "what explains each spike, loss and stall: plimsoll why RUN"),
    ("flows/*.parquet", "loss and latency of each flow, where a stream has per_flow"),
    ("environment.json", "host, versions, calibration"),
)

_FILES_OF_MANY_RUNS = (
    ("journal.jsonl", "every run of it with its length, as it happened"),
    ("result.json", "the answer, for programs"),
    ("matrix.json", "what is varied, and the order"),
    ("iteration-*/sample-*/", "each run, with its trials, environment and raw figures"),
)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """`commands` in order; `options` are those the run was started with, as its journal says.

    `experiment` is the YAML that was run, with every default written out.
    """

    commands: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    experiment: str
    files: tuple[tuple[str, str], ...]


def reproduction_of(
    run_id: str,
    method: str,
    experiment: str,
    journal: JournalContents,
    environment: Environment | None,
) -> Reproduction:
    """From what the run recorded of its own start."""
    known = METHODS.get(method)
    settings = recorded_settings(journal)
    options = settings if isinstance(settings, Mapping) else {}
    versions = environment.versions if environment else {}
    command = known.command if known else method
    return Reproduction(
        commands=(
            f"plimsoll {command} runs/{run_id}/experiment.yaml{_options(options)}",
            f"plimsoll report runs/{run_id}",
        ),
        options=_pairs(options),
        versions=tuple((name, value or "unknown") for name, value in versions.items()),
        experiment=experiment,
        files=_FILES_OF_MANY_RUNS if known and known.of_many_runs else _FILES,
    )


def _pairs(options: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _text(value)) for name, value in options.items() if value is not None)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _options(options: Mapping[str, object]) -> str:
    """Those that say how long and how fast; the rest is listed below the command."""
    rates = (f" --{name} {value}" for name in _RATES if isinstance(value := options.get(name), str))
    duration = options.get("duration_s")
    length = f" --duration {duration:g}s" if isinstance(duration, int | float) else ""
    return "".join((*rates, length, " --quick" if options.get("quick") is True else ""))
