"""The API's operations on one test bed, from content to content."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from plimsoll.errors import InputError, PlimsollError
from plimsoll.remote.otg.flows.ends import Interface, Tester, neighbour_mac
from plimsoll.remote.otg.flows.flow import Flow
from plimsoll.remote.otg.flows.sending import ROUNDING
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import Content, Refusal, api_version, validated
from plimsoll.remote.otg.session.captures import PortCaptures
from plimsoll.remote.otg.session.configuration import Configuration, read_configuration
from plimsoll.remote.otg.session.links import PortLinks
from plimsoll.remote.otg.session.metrics import flow_metric, not_sent, only, port_metric
from plimsoll.remote.otg.session.transmission import FlowTraffic, Transmission
from plimsoll.text.units import format_number
from plimsoll.version import VERSION


class OtgSession:
    """What clients have configured, and what is sent of it. Operations come one at a time.

    Each raises Refusal: of the kind validation for a request that is wrong or cannot be met, with
    the field's path, and internal for what failed here.
    """

    def __init__(self, traffic: FlowTraffic, tester: Tester) -> None:
        self._traffic = traffic
        self._tester = tester
        self._lock = threading.Lock()
        self._transmission = Transmission(traffic)
        self._captures = PortCaptures(traffic)
        self._links = PortLinks(traffic)
        self._configured = Configuration()

    def set_config(self, content: Content) -> Content:
        """Replace all of the configuration; what was sent is stopped."""
        with self._operation():
            configured = read_configuration(content, self._tester)
            self._transmission.replace_all(configured.flows)
            self._captures.replace_all(configured.captures)
            self._links.replace_all(configured.ports)
            self._configured = configured
            return _warnings(configured.warnings)

    def get_config(self) -> Content:
        """The configuration, as it was sent and updated."""
        with self._operation():
            return copy.deepcopy(self._configured.content)

    def update_config(self, content: Content) -> Content:
        """Give flows other rates, also while they send, or other sizes while they do not."""
        with self._operation():
            given = Given.named(validated("ConfigUpdate", content), "ConfigUpdate")
            if given.choice != "flows":
                raise given.refused(given.choice, "is not supported", "update flows")
            update = given.part("flows")
            properties = update.names("property_names")
            changed = self._with_changed_flows(content["flows"]["flows"], properties)
            configured = read_configuration(changed, self._tester)
            warnings: list[str] = []
            for flow in content["flows"]["flows"]:
                warnings += self._update(configured.flows[flow["name"]], properties)
            self._configured = configured
            return _warnings(warnings)

    def set_control_state(self, content: Content) -> Content:
        """Start, stop, pause or resume flows, start or stop captures, take links down or up.

        There are no protocols.
        """
        with self._operation():
            warnings: list[str] = []
            given = Given.named(validated("ControlState", content), "ControlState")
            part = given.part(given.choice)
            inner = part.part(part.choice)
            match (given.choice, part.choice):
                case ("traffic", "flow_transmit"):
                    warnings = self._transmit(inner)
                case ("port", "capture"):
                    warnings = self._captures.set_state(inner)
                case ("port", "link"):
                    warnings = self._links.set_state(inner)
                case ("protocol", "all"):
                    inner.leave("state")
                case _:
                    raise inner.refused("", "is not supported")
            return _warnings(warnings)

    def set_control_action(self, content: Content) -> Content:
        """Nothing that this tester can do."""
        with self._operation():
            given = Given.named(validated("ControlAction", content), "ControlAction")
            part = given.part(given.choice)
            raise part.refused(part.choice, "is not supported")

    def get_metrics(self, content: Content) -> Content:
        """Of ports or flows, all up to now counted."""
        with self._operation():
            given = Given.named(validated("MetricsRequest", content), "MetricsRequest")
            match given.choice:
                case "port":
                    return self._port_metrics(given.part("port"))
                case "flow":
                    return self._flow_metrics(given.part("flow"))
            raise given.refused(given.choice, "there are no such metrics", "use port or flow")

    def get_states(self, content: Content) -> Content:
        """Of neighbours, as configured."""
        with self._operation():
            given = Given.named(validated("StatesRequest", content), "StatesRequest")
            choice = given.choice
            if choice not in ("ipv4_neighbors", "ipv6_neighbors"):
                raise given.refused(choice, "there are no such states")
            names = given.part(choice).names("ethernet_names")
            found = neighbours(self._configured.interfaces, int(choice[3]), names)
            return {"choice": choice, choice: found}

    def get_capture(self, content: Content) -> bytes:
        """A capture file of what a port received."""
        with self._operation():
            given = Given.named(validated("CaptureRequest", content), "CaptureRequest")
            return self._captures.file_of(given)

    def get_version(self) -> Content:
        """Of the published models, and ours."""
        return {"api_spec_version": api_version(), "app_version": f"plimsoll {VERSION}"}

    def close(self) -> None:
        """Do nothing more by itself."""
        self._transmission.close()

    @contextmanager
    def _operation(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except InputError as error:
                raise Refusal(str(error)) from error
            except PlimsollError as error:
                raise Refusal(str(error), kind="internal") from error

    def _with_changed_flows(self, flows: list[Content], properties: Sequence[str]) -> Content:
        """The configuration with these properties of those flows."""
        content = copy.deepcopy(self._configured.content)
        known = {flow["name"]: flow for flow in content.get("flows", ())}
        for index, flow in enumerate(flows):
            name = flow.get("name")
            if name not in known:
                raise Refusal(f"flows.flows[{index}].name: there is no flow {name!r}")
            for each in properties:
                if each in flow:
                    known[name][each] = flow[each]
                else:
                    known[name].pop(each, None)
        return content

    def _update(self, changed: Flow, properties: Sequence[str]) -> list[str]:
        if "size" not in properties:
            self._transmission.change_rate(changed)
            return []
        if self._transmission.state_of(changed.name) != "stopped":
            raise Refusal(
                f"flows: the sizes of {changed.name!r} cannot change while it sends (stop it)"
            )
        self._transmission.replace(changed)
        return list(changed.warnings)

    def _transmit(self, given: Given) -> list[str]:
        """Returns what was due of these flows and not sent, where they stop or begin anew."""
        names = given.names("flow_names") or list(self._configured.flows)
        for name in names:
            if name not in self._configured.flows:
                raise given.refused("flow_names", f"there is no flow {name!r}")
        if given.text("state") == "start":
            self._check_line(given, names)
        transmission = self._transmission
        deeds = {
            "start": transmission.start,
            "stop": transmission.stop,
            "pause": transmission.pause,
            "resume": transmission.resume,
        }
        names, state = list(dict.fromkeys(names)), given.text("state")
        # A start forgets what was counted, and does not wait for it; a stop makes it final.
        before = self._not_sent(names, fresh=False) if state == "start" else []
        deeds[state](names)
        return self._not_sent(names, fresh=True) if state == "stop" else before

    def _not_sent(self, names: Sequence[str], *, fresh: bool) -> list[str]:
        counts = self._traffic.counts(fresh=fresh)
        found = (not_sent(self._configured.flows[name], counts) for name in names)
        return [each for each in found if each]

    def _check_line(self, given: Given, starting: Sequence[str]) -> None:
        """Raise Refusal where all flows that then send at once are more than a port carries.

        Those that begin later may as well follow others, and are not counted.
        """
        flows = [
            flow
            for name, flow in self._configured.flows.items()
            if (name in starting and not flow.sending.delay_s)
            or self._transmission.is_sending(name)
        ]
        for port in self._configured.ports.values():
            sent_bps = sum(flow.sent_bps(port.number) for flow in flows)
            if port.speed_bps and sent_bps > port.speed_bps * (1 + ROUNDING):
                raise given.refused(
                    "flow_names",
                    f"together they send {format_number(sent_bps / 1e9)} Gbps from port "
                    f"{port.name!r} of {format_number(port.speed_bps / 1e9)} Gbps",
                    "start fewer, or lower their rates",
                )

    def _port_metrics(self, given: Given) -> Content:
        ports = self._configured.ports
        names = _chosen(given, "port_names", ports)
        counts = self._traffic.counts(fresh=True)
        sending = {
            flow.tx_name
            for name, flow in self._configured.flows.items()
            if self._transmission.state_of(name) == "started"
        }
        metrics = [
            port_metric(
                ports[name],
                counts,
                sends=name in sending,
                captures=name in self._captures.started,
                speed_bps=self._tester.line_rate_bps,
            )
            for name in names
        ]
        columns = given.names("column_names")
        return {
            "choice": "port_metrics",
            "port_metrics": [only(metric, columns) for metric in metrics],
        }

    def _flow_metrics(self, given: Given) -> Content:
        tagged = given.part("tagged_metrics")
        if tagged.has("filters"):
            raise tagged.refused("filters", "flows have no tags")
        flows = self._configured.flows
        names = _chosen(given, "flow_names", flows)
        # A flow that ends between the two looks is reported to have ended with all its frames.
        states = {name: self._transmission.state_of(name) for name in names}
        counts = self._traffic.counts(fresh=True)
        columns = given.names("metric_names")
        return {
            "choice": "flow_metrics",
            "flow_metrics": [
                only(flow_metric(flows[name], counts, states[name]), columns)
                for name in names
                if flows[name].metrics.enabled
            ],
        }


def _chosen(given: Given, field: str, known: Any) -> list[str]:
    names = given.names(field) or list(known)
    for name in names:
        if name not in known:
            raise given.refused(field, f"there is none called {name!r}")
    return list(dict.fromkeys(names))


def _warnings(texts: Sequence[str]) -> Content:
    return {"warnings": list(texts)}


# Whom the configured addresses would send to, as the configuration alone says.
def neighbours(
    interfaces: Iterable[Interface], version: int, names: Collection[str]
) -> list[Content]:
    """The gateway of each address of that IP version, with its MAC where that is written down."""
    known = list(interfaces)
    found: list[Content] = []
    for interface in known:
        if names and interface.name not in names:
            continue
        for address in interface.addresses:
            if address.version == version:
                mac = neighbour_mac(address, known)
                entry = {"ethernet_name": interface.name, f"ipv{version}_address": address.gateway}
                found.append(entry | ({"link_layer_address": mac} if mac else {}))
    return found
