"""Fields by their path."""

from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.text.field_path import FieldPath
from tests.worded.says import Says


def _document() -> dict[str, Any]:
    return {
        "name": "demo",
        "profile": {
            "streams": [
                {"name": "load", "frame_size": 64},
                {"name": "probe", "frame_size": 64},
            ]
        },
        "criteria": [{"kind": "loss-ratio", "at_most": 0}, {"kind": "latency"}],
        "lab": None,
    }


def _put(path: str, value: object) -> dict[str, Any]:
    document = _document()
    FieldPath.parse(path).put(document, value)
    return document


def test_a_field_at_the_top() -> None:
    assert _put("name", "other")["name"] == "other"


def test_an_item_by_its_name() -> None:
    streams = _put("profile.streams[probe].frame_size", 128)["profile"]["streams"]
    assert [stream["frame_size"] for stream in streams] == [64, 128]


def test_an_item_by_its_kind_or_position() -> None:
    assert _put("criteria[loss-ratio].at_most", 1e-5)["criteria"][0]["at_most"] == 1e-5
    assert _put("criteria[1]", {"kind": "duplicate"})["criteria"][1] == {"kind": "duplicate"}
    assert _put("criteria.0.at_most", 1e-5)["criteria"][0]["at_most"] == 1e-5


def test_every_item() -> None:
    streams = _put("profile.streams[*].flows", 9)["profile"]["streams"]
    assert [stream["flows"] for stream in streams] == [9, 9]


@pytest.mark.parametrize(
    ("path", "locations"),
    [
        ("name", [("name",)]),
        ("criteria.1", [("criteria", 1)]),
        ("profile.streams[probe].flows", [("profile", "streams", 1, "flows")]),
        (
            "profile.streams[*].flows",
            [("profile", "streams", 0, "flows"), ("profile", "streams", 1, "flows")],
        ),
    ],
)
def test_where_a_field_was_set_is_reported(
    path: str, locations: list[tuple[str | int, ...]]
) -> None:
    assert list(FieldPath.parse(path).put(_document(), 1)) == locations


def test_a_path_by_positions_is_a_location() -> None:
    assert FieldPath.parse("lab.ports[0].netdev").location == ("lab", "ports", 0, "netdev")
    assert FieldPath.parse("criteria.0.at_most").location == ("criteria", 0, "at_most")
    assert FieldPath.parse("profile.streams[load].flows").location is None


def test_what_is_around_a_field_is_made() -> None:
    assert _put("trial.teaching.warmup", True)["trial"] == {"teaching": {"warmup": True}}
    assert _put("lab.burst", 64)["lab"] == {"burst": 64}


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("name.length", ("name.length",)),
        ("name[0]", ("name[0]", "[0]")),
        ("search.goals[0].width", ("[0]",)),
        (
            "profile.streams[laod].flows",
            ("laod",),
        ),
        ("criteria[2].at_most", ("2",)),
    ],
)
def test_paths_that_lead_nowhere(path: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as raised:
        _put(path, 1)
    assert raised.value == says(*facts)
    assert "profile.streams[load].frame_size" in raised.value.remedy


@pytest.mark.parametrize(
    "text", ["", ".", "a..b", "a.[0]", "a[]", "a[0", "a b", "a[[0]]", "[0]", "0.a", "a.²"]
)
def test_what_is_no_path(text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        FieldPath.parse(text)
    assert caught.value == says("profile.streams[load].frame_size")
