"""Questions to the metrics of one run or many: a MetricQuery, answered by `ask`."""

from plimsoll.record.metrics.over_time import OverTime
from plimsoll.record.query.answer import AnswerRow, QueryAnswer, RunFailure, TimeRange
from plimsoll.record.query.ask import ask
from plimsoll.record.query.breakout import Breakout, parse_breakouts
from plimsoll.record.query.metric_query import (
    ALL_PERIODS,
    MEASUREMENT,
    MetricQuery,
    Moment,
    ValueFilter,
    parse_filter,
    parse_moment,
)

__all__ = [
    "ALL_PERIODS",
    "MEASUREMENT",
    "AnswerRow",
    "Breakout",
    "MetricQuery",
    "Moment",
    "OverTime",
    "QueryAnswer",
    "RunFailure",
    "TimeRange",
    "ValueFilter",
    "ask",
    "parse_breakouts",
    "parse_filter",
    "parse_moment",
]
