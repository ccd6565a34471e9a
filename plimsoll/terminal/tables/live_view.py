"""A run while it goes on, as a few lines on a terminal: the trial under way, and the search."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.text import Text

from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord, Verdict
from plimsoll.terminal.tables.trial_table import PHASES, VERDICT_STYLES, reason_of
from plimsoll.text.counted import counted
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

_BAR_CELLS = 24
_SPARK_CELLS = 24
_MARGIN = "     "
_SEARCHED: Sequence[TrialPhase] = ("search", "validation")
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.-=+*%#"


@dataclass(frozen=True, slots=True)
class LiveMoment:
    """What a stretch of a trial showed; None for what was not measured in it.

    `rate_pps` is received per direction, `loss_ratio` of all frames, latencies are the
    probe's in ns.
    """

    rate_pps: float | None = None
    loss_ratio: float | None = None
    p50_ns: float | None = None
    p99_ns: float | None = None
    max_ns: float | None = None


@dataclass
class TrialView:
    """The trial under way. `silent` is one whose figures come when it has ended.

    `whole` is what is shown as figures, of the whole trial so far; `moments` are drawn.
    """

    title: str
    planned_s: float
    silent: bool = False
    elapsed_s: float = 0.0
    whole: LiveMoment = field(default_factory=LiveMoment)
    moments: deque[LiveMoment] = field(default_factory=lambda: deque(maxlen=_SPARK_CELLS))

    def lines(self, *, ascii_only: bool = False) -> Iterator[Text]:
        """Its progress, and a line for each series."""
        if self.silent and not self.moments:
            # Nothing comes before the trial ends; a clock would take its time from the loops.
            length = format_duration(self.planned_s)
            yield Text(f"{self.title}  sending for {length}, in silence: no CPU is free")
            return
        yield self._progress(ascii_only)
        if not self.moments:
            return
        series = list(self.moments)
        rate, loss = self.whole.rate_pps, self.whole.loss_ratio
        rates = [each.rate_pps for each in series]
        losses = [each.loss_ratio for each in series]
        yield _series("rate", rates, "-" if rate is None else format_pps(rate), ascii_only)
        yield _series("loss", losses, "-" if loss is None else format_ratio(loss), ascii_only)
        for name, values, value in (
            ("p50", [each.p50_ns for each in series], self.whole.p50_ns),
            ("p99", [each.p99_ns for each in series], self.whole.p99_ns),
            ("max", [each.max_ns for each in series], self.whole.max_ns),
        ):
            yield _series(name, values, "-" if value is None else format_ns(value), ascii_only)

    def _progress(self, ascii_only: bool) -> Text:
        share = min(1.0, self.elapsed_s / self.planned_s) if self.planned_s else 1.0
        cells = round(share * _BAR_CELLS)
        left_s = max(0.0, self.planned_s - self.elapsed_s)
        done, open_ = ("#", ".") if ascii_only else ("━", "━")
        return Text.assemble(
            f"{self.title}  ",
            (done * cells, "green"),
            (open_ * (_BAR_CELLS - cells), "dim"),
            f"  {format_duration(left_s)} left" if left_s else "  draining",
        )


@dataclass
class SearchView:
    """Between which loads the answer lies, by the trials that have ended."""

    trials: int = 0
    _passed: set[float] = field(default_factory=set)
    _failed: set[float] = field(default_factory=set)

    def take(self, phase: TrialPhase, load_pps: float, verdict: Verdict) -> None:
        """Count a trial that has ended."""
        self.trials += 1
        if phase in _SEARCHED and verdict in ("pass", "fail"):
            (self._passed if verdict == "pass" else self._failed).add(load_pps)

    @property
    def lower_pps(self) -> float | None:
        """The highest load that passed and has failed no other time."""
        return max(self._passed - self._failed, default=None)

    @property
    def upper_pps(self) -> float | None:
        """The lowest load above it that failed."""
        lower = self.lower_pps or 0.0
        return min((load for load in self._failed if load > lower), default=None)

    def line(self) -> Text | None:
        """The bracket in words; None before any load was judged."""
        lower, upper = self.lower_pps, self.upper_pps
        if lower is None and upper is None:
            return None
        passed = "none passed" if lower is None else f"{format_pps(lower)} passed"
        failed = "none failed" if upper is None else f"{format_pps(upper)} failed"
        width = ""
        if lower is not None and upper is not None:
            width = f", {format_ratio((upper - lower) / upper)} apart"
        return Text(f"{_MARGIN}bracket: {passed}, {failed}{width}")


def live_text(
    trial: TrialView | None,
    search: SearchView,
    run_s: float,
    *,
    width: int,
    ascii_only: bool = False,
) -> Text:
    """All lines, none wider than the terminal."""
    lines = [] if trial is None else list(trial.lines(ascii_only=ascii_only))
    bracket = search.line()
    if bracket is not None:
        lines.append(bracket)
    if lines:
        counts = f"{counted(search.trials, 'trial')} in {format_duration(run_s)}"
        lines.append(Text(f"{_MARGIN}{counts}", "dim"))
    for line in lines:
        line.truncate(max(1, width - 1), overflow="crop" if ascii_only else "ellipsis")
    return Text("\n").join(lines)


def trial_title(number: int, phase: TrialPhase, load_pps: float) -> str:
    """What a trial's line begins with."""
    load = format_pps(load_pps) if load_pps else "probe only"
    return f"{number:>3}  {PHASES[phase]:<11} {load:>11}"


def ended_line(title: str, record: TrialRecord) -> Text:
    """The line that a finished trial leaves."""
    verdict = "" if record.verdict == "none" else record.verdict.upper()
    style = VERDICT_STYLES[record.verdict]
    return Text.assemble(f"{title}  ", (f"{verdict:<8}", style), reason_of(record))


def _series(name: str, values: Sequence[float | None], shown: str, ascii_only: bool) -> Text:
    return Text.assemble(
        (f"{_MARGIN}{name:<5}", "dim"),
        (sparkline(values, _SPARK_CELLS, ascii_only=ascii_only), "cyan"),
        f"  {shown}",
    )


# Series as one line of bars.
def sparkline(values: Sequence[float | None], cells: int, *, ascii_only: bool = False) -> str:
    """The last `cells` values, each as high as its share of the greatest; a blank for None.

    Zero is the lowest bar and stays it, so that a series that hardly changes looks so.
    """
    bars = _ASCII_BARS if ascii_only else _BARS
    shown = values[-cells:]
    most = max((value for value in shown if value is not None), default=0.0)
    return "".join(_bar(value, most, bars) for value in shown).ljust(cells)


def _bar(value: float | None, most: float, bars: str) -> str:
    if value is None:
        return " "
    if most <= 0 or value <= 0:
        return bars[0]
    return bars[min(len(bars) - 1, round(value / most * (len(bars) - 1)))]
