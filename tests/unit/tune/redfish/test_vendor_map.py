"""The maps: whole, sourced, and without contradictions."""

import pytest

from plimsoll.tune.redfish.vendor_map import SETTINGS, VendorMap, map_of, vendor_maps

SWITCHED = {"on", "off", "deferred", "elsewhere"}
PROFILED = {"max-performance", "balanced", "power-saving", "deferred", "elsewhere"}


def test_there_are_four_vendors() -> None:
    assert [each.vendor for each in vendor_maps()] == ["Dell", "HPE", "Lenovo", "Supermicro"]


@pytest.mark.parametrize("known", vendor_maps(), ids=lambda each: each.vendor)
def test_each_setting_has_sourced_attributes_that_can_mean_both(known: VendorMap) -> None:
    assert set(known.settings) == set(SETTINGS)
    for setting, rules in known.settings.items():
        for rule in rules:
            assert rule.source
            # Of what no one can look up it has to say so.
            assert "published by users" not in rule.source
            assert set(rule.values) <= (PROFILED if setting == "power_profile" else SWITCHED)
            if setting != "power_profile":
                assert {"on", "off"} <= set(rule.values)


@pytest.mark.parametrize("known", vendor_maps(), ids=lambda each: each.vendor)
def test_a_value_has_one_meaning(known: VendorMap) -> None:
    for rules in known.settings.values():
        for rule in rules:
            values = [value.lower() for each in rule.values.values() for value in each]
            assert len(values) == len(set(values)), rule.attribute


@pytest.mark.parametrize(
    ("maker", "vendor"),
    [
        ("Dell Inc.", "Dell"),
        ("HPE", "HPE"),
        ("Hewlett Packard Enterprise", "HPE"),
        ("HP", "HPE"),
        ("LENOVO", "Lenovo"),
        ("Supermicro", "Supermicro"),
        ("Super Micro Computer, Inc.", "Supermicro"),
    ],
)
def test_makers_name_themselves_in_several_ways(maker: str, vendor: str) -> None:
    found = map_of(maker)
    assert found is not None
    assert found.vendor == vendor


@pytest.mark.parametrize("maker", ["", "QEMU", "ZTSYSTEMS", "Delta"])
def test_other_makers_have_no_map(maker: str) -> None:
    assert map_of(maker) is None


def test_supermicros_suffixes_are_no_part_of_a_name() -> None:
    known = map_of("Supermicro")
    assert known is not None
    for name in ("CPUC6Report#0840", "CPUC6Report_0840", "CPUC6Report", "CPUC6report#0840"):
        assert known.knows(name)
    assert not known.knows("CPUC6Report#08405")
    assert not known.knows("Hyper-ThreadingA")
