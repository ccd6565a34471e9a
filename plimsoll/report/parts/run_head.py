"""What the page of any run begins and ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import yaml

from plimsoll.analysis.comparison.side import Side
from plimsoll.benchmark.session.session import recorded_settings
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.methods.method import LOAD_LINE
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.run.environment import Environment, load_environment
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import ReportTable, sentence, text
from plimsoll.report.parts.tables import environment_lines

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


# How to run the same again, and where the raw figures of a page lie.
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


_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run's name, when it began, and what it was measured with.

    `simulated` names the model of the DUT where no frame was sent.

    `damage` says of each file of the run that is not as it was recorded what is wrong with it.
    `method` is what was run, as its journal says; "load-line" before it says anything.
    """

    name: str
    run_id: str
    method: str
    began: datetime | None
    environment_lines: tuple[tuple[str, str], ...]
    reproduction: Reproduction
    simulated: str | None = None
    damage: tuple[str, ...] = ()

    @property
    def began_text(self) -> str:
        """For people; empty before the run's first event."""
        return f"{self.began:%Y-%m-%d %H:%M} UTC" if self.began else ""


def load_head(run: RunDirectory) -> RunHead:
    """The head of a run in any state. Raises RecordError when the record is damaged."""
    return head_of(
        run.run_id,
        run.read_experiment(),
        read_journal(run.journal),
        load_environment(run.environment),
    )


def head_of(
    run_id: str,
    experiment: Mapping[str, object],
    journal: JournalContents,
    environment: Environment | None,
) -> RunHead:
    """The same, of what was read already."""
    first = journal.events[0].at_unix_ns if journal.events else None
    started = next(iter(journal.of_kind(RUN_STARTED)), None)
    method = str(started.fields.get("method")) if started else LOAD_LINE
    text = yaml.safe_dump(dict(experiment), sort_keys=False, allow_unicode=True)
    return RunHead(
        name=str(experiment.get("name") or run_id),
        run_id=run_id,
        method=method,
        began=None if first is None else datetime.fromtimestamp(first / _NS_PER_S, UTC),
        environment_lines=(*environment_lines(environment), *_chain_lines(journal)),
        reproduction=reproduction_of(run_id, method, text, journal, environment),
        simulated=_simulated_model(experiment.get("lab")),
    )


def _chain_lines(journal: JournalContents) -> tuple[tuple[str, str], ...]:
    if not journal.unchained:
        return ()
    said = (
        "unchained, as an earlier version wrote it: lines that were taken out or moved would not "
        "be seen, and histograms are joined to their trials by time"
    )
    return (("Journal", said),)


def _simulated_model(lab: object) -> str | None:
    if not isinstance(lab, Mapping) or lab.get("kind") != "simulated":
        return None
    model = lab.get("model")
    return str(model.get("kind")) if isinstance(model, Mapping) else "unknown"


_SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class RunsHead:
    """`run_id` and `began_text` stand in the corner: how many runs, and from when until when.

    `runs` has all with the side or release of each; `command` makes the page again;
    `method_notes` say how its figures were worked out. `simulated` names the models of DUTs
    where no frame was sent.
    """

    name: str
    run_id: str
    began_text: str
    runs: ReportTable
    command: str
    method_notes: tuple[str, ...]
    simulated: str | None = None
    damage: tuple[str, ...] = ()


def runs_head(
    sides: Sequence[Side], *, group: str, command: str, method_notes: Sequence[str]
) -> RunsHead:
    """Of runs that have come to their end; each is in one side."""
    entries = [run for side in sides for run in side.runs]
    return RunsHead(
        name=", ".join(_once(run.summary.name for run in entries if run.summary)),
        run_id=f"{len(entries)} runs",
        began_text=_times(entries),
        runs=_runs(sides, group),
        command=command,
        method_notes=tuple(method_notes),
        simulated=_models(entries),
    )


def _runs(sides: Sequence[Side], group: str) -> ReportTable:
    columns = (
        sentence("group", group),
        sentence("run", "Run"),
        text("began_utc", "Began"),
        text("dut", "DUT", missing="-"),
        sentence("answer", "Answer", missing="-"),
    )
    rows = tuple(
        (
            side.label,
            run.run_id,
            _moment(run.began_unix_ns),
            "/".join(part for part in (of.dut, of.model) if part) or None if of else None,
            of.answer.text if of and of.answer else None,
        )
        for side in sides
        for run in side.runs
        for of in (run.summary,)
    )
    return ReportTable("runs", columns, rows, "All runs")


def _models(runs: Iterable[RunEntry]) -> str | None:
    known = (run.summary for run in runs if run.summary)
    models = _once(each.model or "unknown" for each in known if each.dut == _SIMULATED)
    return ", ".join(models) or None


def _times(runs: Iterable[RunEntry]) -> str:
    began = sorted(run.began_unix_ns for run in runs if run.began_unix_ns is not None)
    if not began:
        return ""
    first, last = _moment(began[0]), _moment(began[-1])
    return first if first == last else f"{first} to {last}"


def _moment(unix_ns: int | None) -> str:
    if unix_ns is None:
        return "-"
    return f"{datetime.fromtimestamp(unix_ns / _NS_PER_S, UTC):%Y-%m-%d %H:%M} UTC"


def _once(names: Iterable[str]) -> list[str]:
    return sorted(set(names))
