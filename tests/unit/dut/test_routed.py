"""The routes that a router is given: networks, or so many hosts."""

from ipaddress import ip_network

import pytest
from pydantic import ValidationError

from plimsoll.dut.labs.linux_router import LinuxRouterSettings
from plimsoll.errors import MachineError
from tests.worded.says import Says


def test_without_a_number_there_is_a_route_to_each_network() -> None:
    settings = LinuxRouterSettings()
    assert [str(each) for each in settings.routed_to(1)] == ["198.19.0.0/16", "2001:2:0:2::/64"]
    assert settings.route_count == 4


def test_hosts_are_counted_up_from_the_first_and_take_the_place_of_their_network() -> None:
    settings = LinuxRouterSettings(routes=5)
    assert [str(each) for each in settings.routed_to(0)] == [
        *("198.18.0.1/32", "198.18.0.2/32"),
        "2001:2:0:1::/64",
    ]
    assert [str(each) for each in settings.routed_to(1)] == [
        *("198.19.0.1/32", "198.19.0.2/32", "198.19.0.3/32"),
        "2001:2:0:2::/64",
    ]


def test_a_hundred_thousand_are_within_the_networks() -> None:
    settings = LinuxRouterSettings(routes=100_000)
    hosts = [each for each in settings.routed_to(1) if each.version == 4]
    assert len(set(hosts)) == 50_000
    assert hosts[-1] == ip_network("198.19.195.80/32")
    assert settings.route_count == 100_002


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"routes": 1}, ("2",)),
        ({"routes": 100_001}, ("100000",)),
        ({"routes": 600, "networks": [["10.1.0.0/16"], ["10.2.0.0/24"]]}, ("254", "1")),
        ({"routes": 6, "networks": [["10.1.0.0/16"], ["2001:db8::/64"]]}, ("IPv4",)),
    ],
)
def test_what_cannot_be_routed_is_refused(
    given: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        LinuxRouterSettings.model_validate(given)
    assert caught.value == says(*facts)


def test_a_router_with_another_number_of_routes_is_an_error(says: Says) -> None:
    LinuxRouterSettings().check_installed(4)
    with pytest.raises(MachineError) as caught:
        LinuxRouterSettings(routes=100_000).check_installed(256)
    assert caught.value == says("100002", "256")
