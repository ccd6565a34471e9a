"""The experiment's `resctrl` section, as people write it."""

from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.host.resctrl.settings import MemoryBandwidth, ResctrlSettings
from tests.worded.says import Says


def settings(*groups: dict[str, Any], **more: Any) -> ResctrlSettings:
    return ResctrlSettings.model_validate({"groups": groups, **more})


def group(**fields: Any) -> dict[str, Any]:
    return {"name": "neighbours", "of": ["noise"], **fields}


def mistakes(*groups: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str, str]]:
    with pytest.raises(ValidationError) as caught:
        settings(*groups)
    found = caught.value.errors()
    return [
        ((*e["loc"], *e.get("ctx", {}).get("field", ())), e["msg"], e["ctx"].get("remedy", ""))
        for e in found
        # Loaders of documents leave out that a list is short because its items are wrong.
        if e["type"] != "too_short"
    ]


@pytest.mark.parametrize(
    ("written", "mask"),
    [("0x00f", 15), ("0xFF0", 4080), (15, 15), ({0: "0x3", "1": 12}, {0: 3, 1: 12})],
)
def test_masks(written: object, mask: object) -> None:
    assert mask == settings(group(schemata={"L3": written})).groups[0].schemata.L3


@pytest.mark.parametrize(
    ("written", "bandwidth"),
    [
        ("20%", MemoryBandwidth(percent=20)),
        ("4GB/s", MemoryBandwidth(bytes_per_s=4_000_000_000)),
        ("512MiB/s", MemoryBandwidth(bytes_per_s=512 << 20)),
        ({1: "10 %"}, {1: MemoryBandwidth(percent=10)}),
    ],
)
def test_bandwidths(written: object, bandwidth: object) -> None:
    assert bandwidth == settings(group(schemata={"MB": written})).groups[0].schemata.MB


def test_what_is_dumped_loads_as_the_same() -> None:
    given = settings(
        group(schemata={"L3": "0x00f", "MB": {0: "20%", 1: "30%"}}),
        {"name": "loops", "of": ["tester", "dut"], "cpus": [5], "schemata": {"L2DATA": {3: 6}}},
        default={"L3": "0x7f0", "MB": "2GB/s"},
    )
    dumped = given.model_dump(mode="json")
    assert dumped["groups"][0]["schemata"]["L3"] == "0xf"
    assert dumped["groups"][1]["schemata"]["L2DATA"] == {"3": "0x6"}
    assert ResctrlSettings.model_validate(dumped) == given


@pytest.mark.parametrize(
    ("schemata", "place", "facts"),
    [
        ({"L3": "f"}, "L3", ("f",)),
        ({"L3": "20%"}, "L3", ("20%",)),
        ({"L3": True}, "L3", ()),
        ({"L3": -1}, "L3", ("-1",)),
        ({"L3": {}}, "L3", ()),
        ({"L3": {"socket": 1}}, "L3", ("socket",)),
        ({"MB": 20}, "MB", ("20",)),
        ({"MB": "0%"}, "MB", ("0%",)),
        ({"MB": "101%"}, "MB", ("101%",)),
        ({"MB": "4furlongs/s"}, "MB", ("4furlongs/s",)),
        ({"L3": 1, "L3DATA": 2}, "L3DATA", ("L3", "L3DATA")),
    ],
)
def test_what_is_not_a_schema(
    schemata: dict[str, object], place: str, facts: tuple[str, ...], says: Says
) -> None:
    ((where, said, remedy),) = mistakes(group(schemata=schemata))
    assert where == ("groups", 0, "schemata", place)
    assert said == says(*facts)
    assert remedy


def test_members_and_names_are_one_groups(says: Says) -> None:
    assert [m[:2] for m in mistakes({"name": "a"})] == [(("groups", 0), says())]
    assert [m[:2] for m in mistakes(group(), group(of=["dut"]))] == [
        (("groups", 1, "name"), says("groups"))
    ]
    assert [m[:2] for m in mistakes(group(), group(name="b"))] == [(("groups", 1, "of"), says())]
    assert [m[:2] for m in mistakes(group(cpus=[2]), group(name="b", of=[], cpus=[1, 2]))] == [
        (("groups", 1, "cpus"), says("2"))
    ]
