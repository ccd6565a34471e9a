import pytest

from plimsoll.errors import InputError
from plimsoll.record.query.metric_query import ValueFilter, parse_filter
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gt:0.5", ValueFilter("gt", 0.5)),
        ("ge:1e3", ValueFilter("ge", 1000.0)),
        ("lt:-2", ValueFilter("lt", -2.0)),
        ("le:0", ValueFilter("le", 0.0)),
        ("eq:7", ValueFilter("eq", 7.0)),
    ],
)
def test_a_filter_is_an_operator_and_a_number(text: str, expected: ValueFilter) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "gt", "gt:", ":5", "gt:x", "gt:nan", "gt:inf", "GT:1", "ne:1", "gt:1:2", "5", "gt 1"],
)
def test_a_malformed_filter_is_an_error(text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_filter(text)
    assert caught.value == says("filter", "gt:0.5")
    assert caught.value.where == "--filter"


def test_it_is_shown_as_it_is_written() -> None:
    assert str(parse_filter("gt:0.50")) == "gt:0.5"
    assert str(parse_filter("ge:13360184.86")) == "ge:13360184.86"
    assert str(parse_filter("lt:2")) == "lt:2"
