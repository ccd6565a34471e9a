"""The histograms of one trial, out of the log of its run; each knows its unit and shows itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from hdrh.histogram import HdrHistogram

from plimsoll.analysis.shown import html_facts, html_note, shown
from plimsoll.analysis.table import Column, PlainTable
from plimsoll.errors import InputError
from plimsoll.generator.histogram import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS
from plimsoll.record.metrics.histogram_log import StreamKind, gaps_tag, read_histogram_log
from plimsoll.record.run.file_check import require_intact
from plimsoll.record.run.journal import JournalContents
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_ns

_PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
_NOTE = "Values are in ns, each at most 0.78 % high."


class TimeHistogram(HdrHistogram):  # type: ignore[misc]  # the package has no types
    """Times in ns, with all that HdrHistogram offers: percentiles, iterators, `add`.

    A value is that of the end of its bucket, so at most 0.78 % high. `of` says what was
    timed; `unit` is "ns".
    """

    unit = "ns"

    def __init__(self, of: str, samples: HdrHistogram | None = None) -> None:
        """A copy of `samples`; without them it is empty."""
        super().__init__(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
        self.of = of
        if samples is not None and samples.get_total_count():
            self.add(samples)
            # The package takes the least value of the empty one for 0.
            self.min_value = samples.min_value

    def distribution(self) -> PlainTable:
        """The distribution function: how many samples, and what share, are up to a value.

        A row for each bucket with samples: `up_to_ns`, `count` in the bucket, and the
        `share` (0 to 1) of all samples that are no longer.
        """
        total = self.get_total_count()
        rows = [
            (
                step.value_iterated_to,
                step.count_added_in_this_iter_step,
                step.total_count_to_this_value / total,
            )
            for step in (self.get_recorded_iterator() if total else ())
        ]
        columns = (Column("up_to_ns", "integer"), Column("count", "integer"))
        return PlainTable(self.of, (*columns, Column("share", "number")), rows)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self._facts())
        return f"<{shown(self.of)}, in ns: {facts}>"

    def _repr_html_(self) -> str:
        return html_facts(self.of, self._facts()) + html_note(_NOTE)

    def _facts(self) -> list[tuple[str, str]]:
        count = self.get_total_count()
        facts = [("samples", f"{count:,}")]
        if count:
            quantiles = self.get_percentile_to_value_dict(list(_PERCENTILES))
            facts.append(("min", format_ns(self.get_min_value())))
            facts += [(f"p{percent:g}", format_ns(quantiles[percent])) for percent in _PERCENTILES]
            facts.append(("max", format_ns(self.get_max_value())))
        return facts


# The engine's clock and the host's may differ a little about when a trial began.
_SLACK_S = 0.2
_NS_PER_S = 1e9
_TIMED: Mapping[StreamKind, str] = {
    "latency": "latency",
    "across-stalls": "latency across stalls of the tester",
    "less-stalls": "the same less the most that the stalls can have taken",
    "lateness": "lateness of sending",
}


@dataclass(frozen=True, slots=True)
class TrialTime:
    """Which entries of the log are a trial's: those of its `number`.

    Of entries that no trial is noted of, as in logs of earlier versions, those from when until
    when the trial was, in s since the epoch.
    """

    number: int
    begin_s: float
    end_s: float

    @classmethod
    def of(cls, number: int, begins_unix_ns: Mapping[int, int]) -> Self:
        """By when each trial of the run began: until the next one; the last has no end."""
        begin_unix_ns = begins_unix_ns[number]
        later = [begin for begin in begins_unix_ns.values() if begin > begin_unix_ns]
        end_s = min(later) / _NS_PER_S - _SLACK_S if later else float("inf")
        return cls(number, begin_unix_ns / _NS_PER_S - _SLACK_S, end_s)

    @classmethod
    def in_journal(cls, trial: TrialRecord, journal: JournalContents) -> Self:
        """Of a trial that has ended, by the journal of its run."""
        begins = {each.number: each.begin_unix_ns for each in journal.trials()}
        for event in journal.unfinished_trials():
            number = event.fields.get("number")
            if isinstance(number, int):
                begins[number] = event.at_unix_ns
        return cls.of(trial.number, begins)


@dataclass(frozen=True, slots=True)
class _Read:
    """What the log has of a trial, by tag; `by_time` where it does not say of which trial it is."""

    by_tag: Mapping[str, HdrHistogram]
    by_time: bool

    @property
    def together(self) -> HdrHistogram | None:
        """All tags in one; None without samples."""
        merged: HdrHistogram | None = None
        for histogram in self.by_tag.values():
            if merged is None:
                merged = histogram
            else:
                merged.add(histogram)
        return merged

    @property
    def said(self) -> str:
        """To go behind a title."""
        return " (joined to it by time: its run noted no trials)" if self.by_time else ""


@dataclass(frozen=True, slots=True)
class TrialHistograms:
    """All samples of a trial, in ns. `record` is None of a trial that has not ended.

    Every method raises InputError for a stream or an lcore that the trial has not, and
    RecordError where the log is damaged.
    """

    log: Path
    time: TrialTime
    record: TrialRecord | None
    trial: str

    def of_streams(self, stream: str | None, kind: StreamKind) -> TimeHistogram:
        """Of one stream by its name; or of all latency streams (probes) together."""
        if kind not in _TIMED:
            kinds = ", ".join(_TIMED)
            raise InputError(f"{kind!r} is not timed", where="kind", remedy=f"use one of {kinds}")
        names = self._probes() if stream is None else {self._known(stream)}
        found = self._read(lambda tag: _stream_of(tag) in {(name, kind) for name in names})
        of = f"{_TIMED[kind]} of {_listed(names)}, {self.trial}{found.said}"
        return TimeHistogram(of, found.together)

    def of_gaps(self, lcore: int | None) -> TimeHistogram:
        """The gaps of the polling loop on one CPU, or of all polling loops together."""
        known = self._lcores()
        if lcore is not None and lcore not in known:
            raise InputError(
                f"no polling loop ran on CPU {lcore}",
                where=self.trial,
                remedy=f"use one of {_listed(known)}" if known else "",
            )
        tags = {gaps_tag(cpu) for cpu in (known if lcore is None else {lcore})}
        whose = "all polling loops" if lcore is None else f"the polling loop on CPU {lcore}"
        found = self._read(tags.__contains__)
        return TimeHistogram(f"gaps of {whose}, {self.trial}{found.said}", found.together)

    def by_tag(self, takes: Callable[[str], bool] = lambda tag: True) -> Mapping[str, HdrHistogram]:
        """All samples of each tag that `takes` accepts, from one reading of the log."""
        return self._read(takes).by_tag

    def _read(self, takes: Callable[[str], bool]) -> _Read:
        merged: dict[str, HdrHistogram] = {}
        by_time = False
        require_intact(RunDirectory(self.log.parent), self.log.name)
        for logged in read_histogram_log(
            self.log,
            begin_s=self.time.begin_s,
            end_s=self.time.end_s,
            trials=(self.time.number,),
            takes=takes,
        ):
            by_time |= logged.trial is None
            if logged.tag not in merged:
                merged[logged.tag] = logged.histogram
            else:
                merged[logged.tag].add(logged.histogram)
        return _Read(merged, by_time)

    def _probes(self) -> set[str]:
        if self.record is None:
            raise InputError(
                "which streams are probes is known only after the trial has ended",
                where=self.trial,
                remedy=f"name a stream, one of {_listed(self._streams())}",
            )
        probes = {stream.name for stream in self.record.streams if stream.role == "latency"}
        if not probes:
            raise InputError(
                "the trial has no latency stream",
                where=self.trial,
                remedy=f"name a stream, one of {_listed(self._streams())}",
            )
        return probes

    def _known(self, stream: str) -> str:
        streams = self._streams()
        if stream not in streams:
            raise InputError(
                f"there is no stream {plain_text(stream)!r}",
                where=self.trial,
                remedy=did_you_mean(stream, map(plain_text, streams)) if streams else "",
            )
        return stream

    def _streams(self) -> set[str]:
        if self.record is not None:
            return {stream.name for stream in self.record.streams}
        return {found[0] for tag in self._tags() if (found := _stream_of(tag))}

    def _lcores(self) -> set[int]:
        if self.record is not None:
            return {worker.cpu for worker in self.record.workers}
        cpus = (tag.removeprefix(_GAPS) for tag in self._tags() if tag.startswith(_GAPS))
        return {int(cpu) for cpu in cpus if cpu.isdecimal()}

    def _tags(self) -> set[str]:
        """Those that the log has of the trial; none of their histograms is decoded."""
        seen: set[str] = set()

        def see(tag: str) -> bool:
            seen.add(tag)
            return False

        self._read(see)
        return seen


_GAPS = gaps_tag(0).removesuffix("0")


def _stream_of(tag: str) -> tuple[str, str] | None:
    """Name and kind, out of what `stream_tag` made; None of a tag of gaps."""
    if tag.startswith(_GAPS):
        return None
    name, _, rest = tag.rpartition("@")
    return unquote(name), rest.partition("+")[2] or "latency"


def _listed(names: Collection[object]) -> str:
    return ", ".join(sorted(plain_text(str(name)) for name in names)) or "none"
