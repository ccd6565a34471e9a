"""The explorer's addresses lead to the question that they say, whatever names hold."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.query import parse_breakouts
from plimsoll.web.pages.metric_address import MetricAddress

ADDRESS = MetricAddress(("a run",), "mpstat", "Busy-CPU", breakouts=("num", "type"))


def reopened(address: MetricAddress) -> MetricAddress:
    return MetricAddress.of(parse_qsl(urlsplit(address.href).query, keep_blank_values=True))


def test_an_address_is_the_question() -> None:
    assert reopened(ADDRESS) == ADDRESS
    query = ADDRESS.query()
    assert (query.source, query.type, query.resolution) == ("mpstat", "Busy-CPU", 60)
    assert [each.name for each in query.breakouts] == ["num", "type"]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_value_clicked_is_that_value_alone(value: str) -> None:
    narrowed = ADDRESS.narrowed(0, "num", value)
    (first, second) = parse_breakouts(",".join(narrowed.breakouts))
    assert (first.name, first.kind, first.values) == ("num", "values", (value,))
    assert second.kind == "every"


def test_splits_are_added_and_taken_away() -> None:
    assert ADDRESS.broken_out("a,b").breakouts == ("num", "type", r"a\,b")
    assert ADDRESS.without(0).breakouts == ("type",)
    assert ADDRESS.of_metric("procstat", "interrupts-sec").breakouts == ()


@pytest.mark.parametrize("resolution", ["0", "-1", "x", "9" * 30, "60.5"])
def test_an_impossible_number_of_windows(resolution: str) -> None:
    with pytest.raises(InputError) as refused:
        MetricAddress((), "a", "b", resolution=resolution).query()
    assert refused.value.where == "--resolution"


def test_the_command_asks_the_same() -> None:
    assert ADDRESS.narrowed(1, "type", "a b").command == (
        "plimsoll metrics get --run 'a run' --source mpstat --type Busy-CPU "
        "--breakout 'num,type=a b' --resolution 60"
    )
