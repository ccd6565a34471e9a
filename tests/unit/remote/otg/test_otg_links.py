"""Links of ports by snappi's own client, over HTTP and gRPC."""

from typing import Any

import pytest

from tests.unit.remote.otg.flows_read import two_ports
from tests.unit.remote.otg.test_otg_server import CountedTraffic, api, served, settings, traffic
from tests.worded.says import Says

__all__ = ["api", "served", "settings", "traffic"]


def _set(api: Any, state: str, *names: str) -> list[str]:
    control = api.control_state()
    control.port.link.state = state
    control.port.link.port_names = list(names)
    return list(api.set_control_state(control).warnings or [])


def _links(api: Any) -> list[str]:
    request = api.metrics_request()
    request.port.port_names = []
    return [metric.link for metric in api.get_metrics(request).port_metrics]


@pytest.fixture
def configured(api: Any, traffic: CountedTraffic) -> Any:
    traffic.links_up[1] = True
    api.set_config(two_ports())
    return api


def test_a_port_that_is_named_goes_down_and_comes_back(configured: Any) -> None:
    assert _links(configured) == ["up", "up"]
    assert _set(configured, "down", "p2") == []
    assert _links(configured) == ["up", "down"]
    _set(configured, "up", "p2", "p2")
    assert _links(configured) == ["up", "up"]


def test_without_names_it_is_all_ports(configured: Any) -> None:
    _set(configured, "down")
    assert _links(configured) == ["down", "down"]
    _set(configured, "up")
    assert _links(configured) == ["up", "up"]


def test_a_link_that_is_not_so_yet_is_in_the_warnings(
    configured: Any, traffic: CountedTraffic, says: Says
) -> None:
    traffic.slow_links.add(1)
    assert _set(configured, "down") == [says("p2")]
    assert _links(configured) == ["down", "up"]
    traffic.links_up[1] = False
    assert _set(configured, "up") == [says("p2")]


def test_a_new_configuration_brings_links_up_again(configured: Any) -> None:
    _set(configured, "down", "p1")
    configured.set_config(two_ports())
    assert _links(configured) == ["up", "up"]


def test_a_port_that_is_not_there_changes_none(configured: Any, says: Says) -> None:
    with pytest.raises(Exception) as caught:
        _set(configured, "down", "p1", "p9")
    assert caught.value == says("port.link.port_names: there is no port", "p9")
    error = configured.from_exception(caught.value)
    assert (error.kind, error.code in (400, 3)) == ("validation", True)
    assert error.errors == [says("p9", "port.link.port_names")]
    assert _links(configured) == ["up", "up"]


@pytest.mark.parametrize(
    ("names", "field"), [(("p1", "p2"), "port_names[1]"), ((), "port_names")], ids=["named", "all"]
)
def test_a_driver_that_cannot_is_refused_at_its_port_and_the_others_are_as_before(
    configured: Any, traffic: CountedTraffic, names: tuple[str, ...], field: str, says: Says
) -> None:
    traffic.fixed_links.add(1)
    with pytest.raises(Exception, match="net_memif") as caught:
        _set(configured, "down", *names)
    error = configured.from_exception(caught.value)
    assert (error.kind, error.code in (400, 3)) == ("validation", True)
    assert error.errors == [says(f"port.link.{field}", "p2", "net_memif")]
    assert _links(configured) == ["up", "up"]


def test_a_link_that_was_down_before_stays_down_after_a_refusal(
    configured: Any, traffic: CountedTraffic
) -> None:
    _set(configured, "down", "p1")
    traffic.fixed_links.add(1)
    with pytest.raises(Exception, match="net_memif"):
        _set(configured, "down")
    assert _links(configured) == ["down", "up"]
