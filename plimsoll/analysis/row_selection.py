"""Which rows of the metrics to read, as users write it: names, periods and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from plimsoll.analysis.metric_rows import RowSelection
from plimsoll.analysis.when import When, unix_ms
from plimsoll.errors import InputError
from plimsoll.record.run.run_directory import trial_period

Text = TypeVar("Text", bound=str)
# One or several; None for all.
Texts = str | Sequence[str] | None
# A trial by its number, a period by its name, or several of them; None for all.
Periods = int | str | Sequence[int | str] | None


def row_selection(
    *,
    source: Texts,
    type: Texts,
    periods: Periods,
    begin: When | None,
    end: When | None,
) -> RowSelection:
    """The same for the record. Raises InputError where a time is none."""
    begin_ms = None if begin is None else unix_ms(begin, "begin")
    end_ms = None if end is None else unix_ms(end, "end")
    if begin_ms is not None and end_ms is not None and begin_ms >= end_ms:
        raise InputError(
            f"the time ends ({end_ms} ms) before it begins ({begin_ms} ms)",
            where="end",
            remedy="give an end after the start",
        )
    return RowSelection(period_names(periods), several(source), several(type), begin_ms, end_ms)


def period_names(periods: Periods) -> tuple[str, ...] | None:
    """As the record names them."""
    if periods is None:
        return None
    several = [periods] if isinstance(periods, int | str) else periods
    return tuple(trial_period(each) if isinstance(each, int) else each for each in several)


def several(given: Text | Sequence[Text] | None) -> tuple[Text, ...] | None:
    """One or several texts as several; None as it is."""
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given)
