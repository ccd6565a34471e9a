import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.export.cdm.document import KEYWORDS, NUMBER, cdm_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"port_pair": "0:1", "rx_port": "1"}, {"port_pair": "0:1", "rx_port": "1"}),
        ({"lcore": "3"}, {"cpu": "3"}),
        ({"rx_port": "0", "kind": "arp"}, {"rx_port": "0", "type": "arp"}),
        ({"cpu": "1", "state": "C6"}, {"cpu": "1", "mode": "C6"}),
        # Two that would be the same stay two.
        ({"lcore": "3", "cpu": "1"}, {"cpu": "1", "id": "lcore=3"}),
        ({"size": "2048kB", "node": "0"}, {"node": "0", "id": "size=2048kB"}),
        ({"id": "a", "flavour": "b"}, {"id": "a,flavour=b"}),
        ({"num": "3"}, {"num": "3"}),
        ({"num": "all"}, {"id": "num=all"}),
        ({"num": "nan"}, {"id": "num=nan"}),
        ({}, {}),
    ],
)
def test_names_become_those_that_cdm_has(names: dict[str, str], expected: dict[str, str]) -> None:
    assert cdm_names(names) == expected


TEXT = st.text("abc=, ", max_size=3)
NAMES = st.dictionaries(
    st.sampled_from(["lcore", "cpu", "kind", "type", "size", "num", "hostname", "colour"]), TEXT
)


@given(NAMES)
def test_none_is_refused_by_the_index(names: dict[str, str]) -> None:
    assert cdm_names(names).keys() <= KEYWORDS | {NUMBER}


@given(
    st.dictionaries(st.sampled_from(["lcore", "cpu", "size", "num"]), st.sampled_from("01a")),
    st.dictionaries(st.sampled_from(["lcore", "cpu", "size", "num"]), st.sampled_from("01a")),
)
def test_two_series_of_one_type_do_not_become_one(
    one: dict[str, str], other: dict[str, str]
) -> None:
    # Those of one type have the same names.
    if one.keys() == other.keys() and one != other:
        assert cdm_names(one) != cdm_names(other)


def test_the_list_is_whole() -> None:
    # 130 fields of names in CommonDataModel's cdm.js, one of which is the number.
    assert len(KEYWORDS) == 129
    assert {"hostname", "cstype", "csid", "port_pair", "irq", "desc", "stream"} <= KEYWORDS
