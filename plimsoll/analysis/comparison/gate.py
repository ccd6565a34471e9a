"""A run judged by conditions and against a baseline, for a CI to stop at."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from plimsoll.analysis.comparison.comparison import FigureComparison, compare
from plimsoll.analysis.comparison.side import Side
from plimsoll.analysis.comparison.words import conclusion_words, what_would_tell
from plimsoll.errors import InputError
from plimsoll.record.index.run_entry import RunEntry
from plimsoll.record.methods.method import PER_DIRECTION, RunFigure
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.units import (
    format_ns,
    format_number,
    format_pps,
    format_ratio,
    parse_latency_ns,
    parse_rate,
    parse_ratio,
)

Sign = Literal["<", "<=", ">", ">="]

_COMPARE: Mapping[Sign, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(r"\s*([A-Za-z][\w .+-]*?)\s*(<=|>=|<|>)\s*(\S.*?)\s*", re.ASCII)
_OF_BASELINE = re.compile(r"(\S+\s*%)\s+of\s+(?:the\s+)?baseline", re.IGNORECASE)
_LONGEST = 200
_REMEDY = "write for example 'load_line < 1.5Mpps', 'p99.9 > 50us' or 'load_line < 95% of baseline'"


@dataclass(frozen=True, slots=True)
class Condition:
    """`figure` is as written, in one spelling; `limit` is text, read in the figure's unit.

    With `of_baseline` the limit is a share of the baseline's figure.
    """

    text: str
    figure: str
    sign: Sign
    limit: str
    of_baseline: float | None = None

    @property
    def name(self) -> str:
        """For lists of gates, in which what holds is bad."""
        return f"fail if {self.text}"

    def limit_in(self, unit: str) -> float:
        """The limit in a figure's `unit`. Raises InputError where it is of another kind."""
        try:
            return _parsed(self.limit, unit)
        except InputError as error:
            raise _refused(self.text, error.message, error.remedy) from None

    def holds(self, value: float, limit: float) -> bool:
        """Whether `value` fulfils it."""
        return _COMPARE[self.sign](value, limit)


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises InputError that names what is wrong in it."""
    found = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise _refused(text, "is not a figure, a sign (<, <=, >, >=) and a limit", _REMEDY)
    name, sign, limit = found.groups()
    share = _OF_BASELINE.fullmatch(limit)
    return Condition(
        text=text.strip(),
        figure=spelling(name),
        sign=next(each for each in _COMPARE if each == sign),
        limit=limit,
        of_baseline=None if share is None else _share(text, share[1]),
    )


def spelling(name: str) -> str:
    """A figure's name as it is compared: "Load_line" and "load-line" are "load line"."""
    words = re.sub(r"[\s_-]+", " ", name).strip().lower()
    return words.removesuffix(" latency").removesuffix(" ratio")


def value_text(value: float, unit: str) -> str:
    """A figure for people."""
    formats = {"ns": format_ns, "ratio": format_ratio, PER_DIRECTION: format_pps}
    shown = formats.get(unit)
    return shown(value) if shown else f"{format_number(value)} {unit}".strip()


def _parsed(limit: str, unit: str) -> float:
    if unit == "ns":
        return parse_latency_ns(limit)
    if unit == "ratio":
        return parse_ratio(limit)
    if unit == PER_DIRECTION:
        rate = parse_rate(limit)
        if rate.unit != "pps":
            raise InputError(f"{limit!r} is not in frames a second", remedy="write as in 1.5Mpps")
        return rate.value
    try:
        return float(limit)
    except ValueError:
        raise InputError(f"{limit!r} is not a number", remedy=f"give {unit}") from None


def _share(text: str, written: str) -> float:
    try:
        share = float(written.rstrip("% "))
    except ValueError:
        raise _refused(text, f"{written!r} is not a share", _REMEDY) from None
    if not 0 < share < float("inf"):
        raise _refused(text, f"{written!r} is not a share above zero", _REMEDY)
    return share / 100


def _refused(text: str, message: str, remedy: str) -> InputError:
    return InputError(message, where=f"--fail-if {text[:_LONGEST]!r}", remedy=remedy)


# "unknown" is where the tester could not tell, or there are too few runs.
GateOutcome = Literal["ok", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """What came of one gate: `name` says when it fails, `text` what was found.

    An `unknown` that is not `strict` lets the run pass.
    """

    name: str
    outcome: GateOutcome
    text: str
    strict: bool = True


def judge(
    entry: RunEntry, conditions: Sequence[Condition], baseline: Side | None
) -> tuple[GateResult, ...]:
    """Each condition, then the comparison with the baseline where there is one.

    A run that found no answer fails where the DUT is at fault; where the run has not ended or
    the tester was at fault, it is unknown. Raises InputError for a figure that the run does not
    have and for a limit in another unit.
    """
    run = Side(entry.run_id, (entry,))
    results = [_by_condition(each, run, baseline) for each in conditions]
    if baseline is not None:
        results.append(_by_baseline(run, baseline))
    return tuple(results)


def _by_condition(condition: Condition, run: Side, baseline: Side | None) -> GateResult:
    (entry,), (figures,) = run.runs, run.figures
    missing = _missing(entry)
    if missing is not None and _named(condition, figures) is None:
        return GateResult(condition.name, missing[0], missing[1])
    figure = _required(condition, figures)
    if condition.of_baseline is None:
        limit, source = condition.limit_in(figure.unit), ""
    else:
        base = _baseline_median(condition, figure.name, baseline)
        limit = condition.of_baseline * base
        source = (
            f", {condition.of_baseline:.4g} times the baseline's {value_text(base, figure.unit)}"
        )
    broken = condition.holds(figure.value, limit)
    value = value_text(figure.value, figure.unit)
    said = f"{figure.name} is {value}; the limit is {value_text(limit, figure.unit)}{source}"
    return GateResult(condition.name, "fail" if broken else "ok", said)


def _missing(entry: RunEntry) -> tuple[GateOutcome, str] | None:
    """Why the run may lack a figure that others of its kind have; None where it does not."""
    summary = entry.summary
    if entry.state != "finished" or summary is None:
        return "unknown", f"the run has no answer: it is {entry.state}"
    if summary.answer is None or summary.answer.value is None:
        said = summary.answer.text if summary.answer else "nothing was found"
        unknown = summary.verdict in ("invalid", "none")
        return ("unknown" if unknown else "fail"), f"the run has no answer: {said}"
    return None


def _named(condition: Condition, figures: Mapping[str, RunFigure]) -> RunFigure | None:
    return next((f for name, f in figures.items() if spelling(name) == condition.figure), None)


def _required(condition: Condition, figures: Mapping[str, RunFigure]) -> RunFigure:
    found = _named(condition, figures)
    if found is None:
        names = [name.replace(" ", "_") for name in figures]
        raise InputError(
            f"the run has no figure {condition.figure!r}",
            where=f"--fail-if {condition.text!r}",
            remedy=did_you_mean(condition.figure, names, f"it has {', '.join(names)}"),
        )
    return found


def _baseline_median(condition: Condition, name: str, baseline: Side | None) -> float:
    where = f"--fail-if {condition.text!r}"
    if baseline is None:
        raise InputError("there is no baseline", where=where, remedy="name it with --baseline")
    values = [run[name].value for run in baseline.figures if name in run]
    if not values:
        raise InputError(
            f"no run of the baseline has a {name}", where=where, remedy="choose another baseline"
        )
    return median(values)


def _by_baseline(run: Side, baseline: Side) -> GateResult:
    name = f"fail if worse than {baseline.label}"
    missing = _missing(run.runs[0])
    if missing is not None:
        return GateResult(name, missing[0], missing[1])
    figure = compare([baseline, run]).figures[0]
    (found,) = figure.conclusions
    said = f"{_values(figure)}: {conclusion_words(found)}"
    if found.kind == "cannot tell":
        needed = what_would_tell((found,))
        return GateResult(name, "unknown", f"{said}; {needed}", strict=False)
    return GateResult(name, "fail" if found.kind == "worse" else "ok", said)


def _values(figure: FigureComparison) -> str:
    base, found = (
        "unknown" if side.median is None else value_text(side.median, figure.unit)
        for side in figure.sides
    )
    return f"{figure.name} is {found}, the baseline's {base}"
