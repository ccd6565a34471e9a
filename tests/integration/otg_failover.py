"""A failover test by snappi, run in the network namespace of the DUT: a script of its own.

Its argument is the server's location; with one more, `grpc`, over gRPC.
"""

import subprocess
import sys
from typing import Any

import snappi

from tests.integration.command import until

INTERFACES = {"p1": "pl-t0", "p2": "pl-t1"}


def configure(api: Any) -> None:
    config = api.config()
    config.ports.port(name="p1", location="0").port(name="p2", location="1")
    flow = config.flows.add(name="there")
    flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = "p1", ["p2"]
    flow.size.fixed, flow.rate.pps = 128, 500
    flow.duration.choice = flow.duration.CONTINUOUS
    flow.metrics.enable = flow.metrics.loss = True
    ethernet, _, _ = flow.packet.ethernet().ipv4().udp()
    ethernet.src.value, ethernet.dst.value = "02:00:00:00:00:01", "02:00:00:00:00:02"
    api.set_config(config)


def transmit(api: Any, state: str) -> None:
    control = api.control_state()
    control.traffic.flow_transmit.state = state
    api.set_control_state(control)


def set_link(api: Any, state: str, *names: str) -> None:
    control = api.control_state()
    control.port.link.state = state
    control.port.link.port_names = list(names)
    api.set_control_state(control)


def flow_metric(api: Any) -> Any:
    request = api.metrics_request()
    request.flow.flow_names = []
    (metric,) = api.get_metrics(request).flow_metrics
    return metric


def assert_links(api: Any, **expected: str) -> None:
    """What port metrics say, and what the kernel says of the same interfaces."""
    request = api.metrics_request()
    request.port.port_names = []
    metrics = api.get_metrics(request).port_metrics
    assert {metric.name: metric.link for metric in metrics} == expected
    for name, state in expected.items():
        shown = subprocess.check_output(
            ["ip", "-oneline", "link", "show", INTERFACES[name]], text=True
        )
        assert ("LOWER_UP" in shown) == (state == "up"), shown


def until_more_come(api: Any) -> None:
    before = flow_metric(api).frames_rx
    until(lambda: bool(flow_metric(api).frames_rx > before + 50), "frames that come back")


def fail_over(api: Any) -> None:
    configure(api)
    transmit(api, "start")
    until_more_come(api)
    assert_links(api, p1="up", p2="up")

    # The port that sends: its frames are refused, and so not sent.
    set_link(api, "down", "p1")
    assert_links(api, p1="down", p2="up")
    before = flow_metric(api)
    until(lambda: flow_metric(api).frames_tx_rate == 0, "an interval without frames")
    assert flow_metric(api).frames_tx == before.frames_tx
    assert flow_metric(api).transmit == "started"
    set_link(api, "up", "p1")
    assert_links(api, p1="up", p2="up")
    until_more_come(api)

    # The port that receives: what is sent is lost.
    set_link(api, "down", "p2")
    assert_links(api, p1="up", p2="down")
    sent = flow_metric(api).frames_tx
    until(lambda: bool(flow_metric(api).frames_tx > sent + 50), "frames that are sent")
    set_link(api, "up")
    assert_links(api, p1="up", p2="up")
    until_more_come(api)
    transmit(api, "stop")
    metric = flow_metric(api)
    lost = metric.frames_tx - metric.frames_rx
    assert lost >= 50, metric
    assert abs(metric.loss - 100 * lost / metric.frames_tx) < 0.01

    # Also while nothing is sent, until there is another configuration.
    set_link(api, "down")
    assert_links(api, p1="down", p2="down")
    configure(api)
    assert_links(api, p1="up", p2="up")


if __name__ == "__main__":
    client = snappi.api(location=sys.argv[1], transport=sys.argv[2] if sys.argv[2:] else None)
    client.request_timeout = 120
    fail_over(client)
