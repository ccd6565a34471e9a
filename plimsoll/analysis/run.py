"""A run, opened for looking at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from plimsoll.analysis.measured import Measured
from plimsoll.analysis.metric_rows import MetricRows, NamesAs, Periods, Texts, row_selection
from plimsoll.analysis.shown import html_facts, html_note, shown
from plimsoll.analysis.table import PlainTable
from plimsoll.analysis.trial import Trial
from plimsoll.analysis.trial_tables import spike_table
from plimsoll.analysis.trials import Trials, trials_of
from plimsoll.analysis.when import When, utc_of_ns
from plimsoll.record.causes.spikes import read_spikes
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.index.run_notes import Note
from plimsoll.record.index.run_summary import RunSummary
from plimsoll.record.methods.method import LOAD_LINE, RunAnswer
from plimsoll.record.methods.registry import method_with_result
from plimsoll.record.run.environment import Environment, load_environment
from plimsoll.record.run.file_check import check_run, require_intact
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from plimsoll.record.trials.trial_record import Verdict

_LOAD_LINE = "load line"


class Run(Measured):
    """One run, in any state: finished, stopped (cut short) or running.

    Each part is read on first use, and then stays as it was; to see more of a run that is
    still going, open it again. Metrics are read anew each time. Everything raises
    RecordError where what it reads is damaged.
    """

    def __init__(self, entry: RunEntry) -> None:
        """`entry` is what the index of runs says of it; nothing else is read yet."""
        self.entry = entry
        self._directory = entry.run

    @property
    def id(self) -> str:
        """What the run is called by: its directory's name; of a matrix's run, its path below."""
        return self.entry.run_id

    @property
    def path(self) -> Path:
        """The run directory."""
        return self._directory.path

    @property
    def name(self) -> str:
        """The experiment's."""
        return self._summary.name

    @property
    def method(self) -> str:
        """What was run: load-line, trial, soak, rfc2544 and so on."""
        return self._summary.method or LOAD_LINE

    @property
    def state(self) -> RunState:
        """Running, finished, stopped (cut short, and --resume goes on) or damaged."""
        return self.entry.state

    @property
    def damage(self) -> tuple[str, ...]:
        """What of the run cannot be read: sentences, with the place and the remedy."""
        return tuple(
            str(RecordError(each.reason, where=each.where, remedy=each.remedy))
            for each in self.entry.damage
        )

    def check(self) -> tuple[str, ...]:
        """What is not as it was recorded, by reading all of it: sentences as of `damage`."""
        try:
            return tuple(str(each.error) for each in check_run(self._directory))
        except RecordError as error:
            return (str(error),)

    @property
    def began(self) -> datetime | None:
        """When its first event was, in UTC; None where that is not known."""
        return _utc(self._summary.began_unix_ns)

    @property
    def ended(self) -> datetime | None:
        """When its last event was, in UTC; None as long as it is not over."""
        return _utc(self._summary.ended_unix_ns)

    @property
    def dut(self) -> str | None:
        """The kind of the lab; of a simulated one with its model."""
        parts = (self._summary.dut, self._summary.model)
        return "/".join(part for part in parts if part) or None

    @property
    def versions(self) -> Mapping[str, str | None]:
        """Of plimsoll, the engine, DPDK and Python, as recorded when the run started."""
        return self._summary.versions

    @property
    def tags(self) -> Mapping[str, str]:
        """What the user tagged the run with."""
        return self.entry.notes.tags

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the user had to say of it, from first to last."""
        return self.entry.notes.notes

    @property
    def answer(self) -> RunAnswer | None:
        """What the run found, in one line and, where there is one, in one figure.

        None as long as it has come to nothing.
        """
        return self._summary.answer

    @property
    def verdict(self) -> Verdict:
        """Whether it holds; "none" of methods that judge nothing, and before its result."""
        return self._summary.verdict

    @property
    def load_line_pps(self) -> float | None:
        """The load line per direction, as offered; None where none was found, or was searched."""
        answer = self.answer
        return answer.value if answer and answer.figure == _LOAD_LINE else None

    @cached_property
    def result(self) -> BaseModel | None:
        """All that result.json says, as the model of the run's method; None before there is one."""
        return read_any_result(self._directory, self.method)

    @cached_property
    def environment(self) -> Environment | None:
        """The host as the run found it; None where it did not come to that."""
        require_intact(self._directory, "environment.json")
        return load_environment(self._directory.environment)

    @cached_property
    def experiment(self) -> Mapping[str, object]:
        """The experiment, with every default spelled out."""
        return self._directory.read_experiment()

    @cached_property
    def journal(self) -> JournalContents:
        """Every event of the run."""
        return read_journal(self._directory.journal)

    @cached_property
    def trials(self) -> Trials:
        """All trials, those without an end among them."""
        return trials_of(self._directory, self.journal)

    @property
    def finished_trials(self) -> int:
        """How many trials came to their end."""
        return self._summary.trials

    @property
    def proof(self) -> Trial | None:
        """The trial that the run's answer rests on; None where it is not one trial."""
        period = self._summary.period
        proofs = (trial for trial in self.trials if trial_period(trial.number) == period)
        return next(proofs, None)

    def trial(self, number: int) -> Trial:
        """The trial with this number. Raises InputError where there is none."""
        return self.trials.numbered(number)

    def rows(
        self,
        *,
        source: Texts = None,
        type: Texts = None,
        periods: Periods = None,
        begin: When | None = None,
        end: When | None = None,
        names_as: NamesAs = "columns",
    ) -> MetricRows:
        """The metrics as they were recorded: a row for each value and the time it stood.

        Of these sources, types and periods (trials by number, or a period's name), and those
        that reach into [begin, end), aware datetimes or ms since the epoch; None is for all.
        Names are columns of their own or, as "map", one. Rows are of any length: what stayed
        the same for an hour is one. Raises InputError where a time is none.
        """
        selection = row_selection(source=source, type=type, periods=periods, begin=begin, end=end)
        require_intact(self._directory, "metrics/")
        return MetricRows(self._directory, selection, names_as)

    def spikes(self) -> PlainTable:
        """The longest stalls of the tester and the worst latencies, by time."""
        require_intact(self._directory, "spikes.parquet")
        return spike_table(f"Spikes of {self.id}", read_spikes(self._directory))

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {shown(value)}" for name, value in self._facts())
        return f"<run {shown(self.id)}: {facts}>"

    def _repr_html_(self) -> str:
        caption = f"Run {self.id}"
        return html_facts(caption, self._facts()) + "".join(map(html_note, self.damage))

    def _measured_runs(self) -> Mapping[str, RunDirectory]:
        return {self.id: self._directory}

    @property
    def _summary(self) -> RunSummary:
        entry = self.entry
        if entry.summary is None:
            damage = entry.damage[0]
            raise RecordError(damage.reason, where=damage.where, remedy=damage.remedy)
        return entry.summary

    def _facts(self) -> list[tuple[str, object]]:
        if self.entry.summary is None:
            return [("state", self.state), *(("damage", each) for each in self.damage)]
        facts: list[tuple[str, object]] = [
            ("name", self.name),
            ("method", self.method),
            ("state", self.state),
            ("began", self.began),
            ("DUT", self.dut),
            ("trials", self._summary.trials),
        ]
        if self.answer is not None:
            facts.append(("answer", self.answer.text))
        if self.verdict != "none":
            facts.append(("verdict", self.verdict))
        return [*facts, *((f"tag {key}", value) for key, value in self.tags.items())]


def _utc(unix_ns: int | None) -> datetime | None:
    return None if unix_ns is None else utc_of_ns(unix_ns)


# The result of a run of any method, as the model of that method.
def read_any_result(run: RunDirectory, name: str) -> BaseModel | None:
    """What result.json holds; None where the run has not come to one, or never writes one.

    `name` is the method's. Raises RecordError for a result that is damaged, or of a method
    that this version does not know.
    """
    if not run.result.exists():
        return None
    method = method_with_result(name)
    if method is None:
        raise RecordError(
            f"no result of a run of the method {name} can be read",
            where=str(run.result),
            remedy="use the version of plimsoll that its environment.json names",
        )
    result: BaseModel | None = read_run_result(run, method.result)
    return result
