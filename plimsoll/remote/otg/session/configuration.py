"""A whole configuration, read: ports, devices, flows, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.remote.otg.flows.ends import Interface, OtgPort, Tester, read_interfaces, read_ports
from plimsoll.remote.otg.flows.flow import Flow, read_flow
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import Content, Refusals, validated
from plimsoll.remote.otg.session.captures import OtgCapture, read_captures

_MAX_FLOWS = 1024


@dataclass(frozen=True)
class Configuration:
    """What was configured, and its content as it was sent."""

    content: Content = field(default_factory=dict)
    ports: Mapping[str, OtgPort] = field(default_factory=dict)
    interfaces: tuple[Interface, ...] = ()
    flows: Mapping[str, Flow] = field(default_factory=dict)
    captures: Mapping[str, OtgCapture] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_configuration(content: Content, tester: Tester) -> Configuration:
    """The configuration on that tester. Raises Refusal with all that is wrong in it."""
    given = Given.named(validated("Config", content), "Config")
    refusals = Refusals()
    ports, warnings = read_ports(given, tester, refusals)
    interfaces: list[Interface] = []
    for device in given.parts("devices"):
        with refusals.collecting(device):
            interfaces += read_interfaces([device])
    flows = _flows(given, ports, interfaces, tester, refusals)
    captures = read_captures(given, ports, refusals)
    _leave_options(given)
    refusals.add([f"{path}: is not supported" for path in given.unread()])
    refusals.check()
    warnings += [warning for flow in flows.values() for warning in flow.warnings]
    if interfaces:
        warnings.append(
            "devices: their addresses stand in flows; they answer no requests and speak no protocol"
        )
    return Configuration(content, ports, tuple(interfaces), flows, captures, tuple(warnings))


def _flows(
    config: Given,
    ports: Mapping[str, OtgPort],
    interfaces: list[Interface],
    tester: Tester,
    refusals: Refusals,
) -> dict[str, Flow]:
    flows: dict[str, Flow] = {}
    number = 0
    given = config.parts("flows")
    if len(given) > _MAX_FLOWS:
        refusals.add([f"flows: {len(given)} of them (give at most {_MAX_FLOWS})"])
        given = []
    for each in given:
        with refusals.collecting(each):
            flow = read_flow(each, ports, interfaces, tester).numbered_from(number)
            if flow.name in flows:
                raise each.refused("name", f"another flow is called {flow.name!r}")
            flows[flow.name] = flow
            number += len(flow.streams)
    return flows


def _leave_options(config: Given) -> None:
    """Who owns ports and how protocols are simulated: nothing that this tester has."""
    options = config.part("options")
    options.part("port_options").leave("location_preemption")
    options.part("protocol_options").leave("auto_start_all", "mode_lite")
