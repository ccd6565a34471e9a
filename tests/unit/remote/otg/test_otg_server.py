"""snappi's own client, unmodified, against both servers; traffic that is only counted."""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
import requests
import snappi
import uvicorn
from snappi import otg_pb2, otg_pb2_grpc

from plimsoll.benchmark.live_traffic.live_captures import CapturedPort, PortCapture
from plimsoll.benchmark.live_traffic.live_counts import LiveCounts, LivePort, LiveStream
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import NO_ENDS, GeneratorRefused, StreamCounts
from plimsoll.remote.otg.flows.ends import Tester
from plimsoll.remote.otg.model.published import Refusal
from plimsoll.remote.otg.server.grpc_service import MAX_REQUEST_BYTES, make_server
from plimsoll.remote.otg.server.serve import make_application
from plimsoll.remote.otg.server.settings import OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.traffic.plan import StreamPlan
from plimsoll.web.endpoint import ListenEndpoint, new_token
from tests.free_ports import free_ports
from tests.unit.remote.otg.flows_read import TESTER, one_flow, two_ports
from tests.worded.says import Says

_TOKEN = new_token()
_LATENCY = Histogram(count=2, sum_ns=3000, min_ns=1000, max_ns=2000)
_DELAYED = Histogram(count=1, sum_ns=9000, min_ns=9000, max_ns=9000)


@dataclass
class CountedTraffic:
    """Sends each stream's frames at once, loses one of each, and knows what was requested."""

    plans: dict[int, StreamPlan] = field(default_factory=dict)
    on: set[int] = field(default_factory=set)
    # Whose counters are there: of streams that send or have sent.
    counted: set[int] = field(default_factory=set)
    durations_s: dict[int, float] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)
    captures: dict[int, PortCapture] = field(default_factory=dict)
    captured_ports: dict[int, CapturedPort] = field(default_factory=dict)
    stopped_captures: list[int] = field(default_factory=list)
    skipped: int = 0
    links_up: dict[int, bool] = field(default_factory=lambda: {0: True, 1: False})
    # Whose drivers take no links down or up.
    fixed_links: set[int] = field(default_factory=set)
    # Whose links take a while to change.
    slow_links: set[int] = field(default_factory=set)

    @property
    def sending(self) -> frozenset[int]:
        return frozenset(n for n in self.on if self.plans[n].frame_count is None)

    def add(self, streams: Iterable[StreamPlan]) -> None:
        self.plans |= {plan.stream: plan for plan in streams}

    def remove(self, streams: Iterable[int] | None = None) -> None:
        for number in list(self.plans if streams is None else streams):
            del self.plans[number]
            self.on.discard(number)

    def start(
        self, streams: Iterable[int] | None = None, durations_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        self.on |= set(self.plans if streams is None else streams)
        self.counted |= self.on
        self.durations_s |= durations_s

    def hold(self, streams: Iterable[int]) -> None:
        self.held |= set(streams)

    def go_on(self, streams: Iterable[int]) -> None:
        self.held -= set(streams)

    def stop(self, streams: Iterable[int] | None = None) -> None:
        self.on -= set(self.plans if streams is None else streams)

    def set_rates(self, rates_pps: Mapping[int, float]) -> None:
        self.rates |= rates_pps

    def clear(self, streams: Iterable[int] | None = None) -> None:
        self.counted -= set(self.plans if streams is None else streams)

    def prepare_captures(self, ports: Mapping[int, PortCapture]) -> None:
        self.captures = dict(ports)

    def start_capture(self, port: int) -> None:
        self.captured_ports[port] = CapturedPort((), self.captures[port].most_frames)

    def stop_capture(self, port: int) -> None:
        self.stopped_captures.append(port)

    def captured(self, port: int) -> CapturedPort:
        none = CapturedPort((), self.captures[port].most_frames)
        return self.captured_ports.get(port, none)

    def set_link(self, port: int, *, up: bool) -> bool:
        if port in self.fixed_links:
            raise GeneratorRefused("driver net_memif cannot do it: use a card", where="generator")
        if port not in self.slow_links:
            self.links_up[port] = up
        return self.links_up[port]

    def counts(self, *, fresh: bool = False) -> LiveCounts:
        streams = tuple(self._stream(plan) for plan in self.plans.values())
        ports = tuple(
            LivePort(n, self.links_up[n], 10 * n, 1000 * n, 7, 700, 1.0, 2.0, 8.0, 16.0, None)
            for n in (0, 1)
        )
        return LiveCounts(0, 1.0, 0.2, sending=bool(self.sending), streams=streams, ports=ports)

    def _stream(self, plan: StreamPlan) -> LiveStream:
        sent = (plan.frame_count or 50) if plan.stream in self.counted else 0
        counts = StreamCounts.__new__(StreamCounts)
        for name, value in {
            "sent": sent,
            "received": max(0, sent - 1),
            "misdirected": 0,
            "skipped": self.skipped if sent else 0,
            "latency": _LATENCY,
            "latency_across_stalls": _DELAYED,
            "latency_less_stalls": Histogram(),
        }.items():
            object.__setattr__(counts, name, value)
        return LiveStream(
            plan.stream, plan.name, plan.tx_port, plan.rx_port, "stopped", plan.rate_pps, counts,
            plan.mean_frame_size, tx_pps=100.0, rx_pps=100.0,
            first_received_unix_ns=5, last_received_unix_ns=9,
        )  # fmt: skip


@pytest.fixture
def traffic() -> CountedTraffic:
    return CountedTraffic()


@pytest.fixture(params=[None, _TOKEN], ids=["open", "token"])
def settings(request: pytest.FixtureRequest) -> OtgSettings:
    rest, calls = free_ports(2)
    return OtgSettings(ListenEndpoint("127.0.0.1", rest), calls, token=request.param)


@pytest.fixture
def served(traffic: CountedTraffic, settings: OtgSettings) -> Iterator[OtgSettings]:
    session = OtgSession(traffic, TESTER)
    calls = make_server(session, settings)
    calls.start()
    config = uvicorn.Config(
        make_application(session, settings),
        host="127.0.0.1",
        port=settings.rest.port,
        log_level="warning",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield settings
    server.should_exit = True
    thread.join()
    calls.stop(None).wait()
    session.close()


@pytest.fixture(params=["http", "grpc"])
def api(request: pytest.FixtureRequest, served: OtgSettings) -> Any:
    """snappi's client; over gRPC it can send no token."""
    if request.param == "http":
        return snappi.api(location=served.rest_location)
    if served.token:
        pytest.skip("snappi sends no metadata")
    return snappi.api(location=served.grpc_location, transport="grpc")


def _transmit(api: Any, state: str, *names: str) -> None:
    control = api.control_state()
    control.traffic.flow_transmit.state = state
    control.traffic.flow_transmit.flow_names = list(names)
    api.set_control_state(control)


def _flow_metrics(api: Any) -> Any:
    request = api.metrics_request()
    request.flow.flow_names = []
    return api.get_metrics(request).flow_metrics


def _flow_that_measures(config: Any) -> Any:
    flow = one_flow(config, size=128)
    flow.packet.ethernet().ipv4().udp()
    flow.metrics.enable = flow.metrics.loss = flow.metrics.timestamps = True
    flow.metrics.latency.enable = True
    return flow


def test_a_flow_is_configured_sent_and_measured(api: Any, traffic: CountedTraffic) -> None:
    config = two_ports()
    _flow_that_measures(config).duration.fixed_packets.packets = 100
    api.set_config(config)
    assert api.get_config().serialize() == config.serialize()
    _transmit(api, "start")
    (metric,) = _flow_metrics(api)
    assert (metric.name, metric.transmit, metric.port_tx, metric.port_rx) == (
        "f1",
        "stopped",
        "p1",
        "p2",
    )
    assert (metric.frames_tx, metric.frames_rx) == (100, 99)
    assert (metric.bytes_tx, metric.bytes_rx) == (12800, 12672)
    assert metric.loss == pytest.approx(1.0)
    # 1,000 and 2,000 ns, and 9,000 ns as measured, as a stall of the tester may have delayed it.
    latency = metric.latency
    assert (latency.minimum_ns, latency.average_ns, latency.maximum_ns) == (1000, 4000, 9000)
    assert metric.timestamps.last_timestamp_ns == 9
    assert metric.tx_rate_bps == pytest.approx(100 * 128 * 8)
    assert metric.tx_l1_rate_bps == pytest.approx(100 * 148 * 8)


def test_flows_pause_resume_change_their_rate_and_stop(api: Any, traffic: CountedTraffic) -> None:
    config = two_ports()
    flow = _flow_that_measures(config)
    api.set_config(config)
    _transmit(api, "start", "f1")
    assert _flow_metrics(api)[0].transmit == "started"
    _transmit(api, "pause")
    assert traffic.held == {0}
    assert _flow_metrics(api)[0].transmit == "paused"
    _transmit(api, "resume")
    assert traffic.held == set()
    flow.rate.pps = 5000
    update = api.config_update()
    update.flows.property_names = ["rate"]
    update.flows.flows.append(flow)
    api.update_config(update)
    assert traffic.rates == {0: 5000.0}
    assert api.get_config().flows[0].rate.pps == 5000
    _transmit(api, "stop")
    assert _flow_metrics(api)[0].transmit == "stopped"


def test_the_engine_ends_a_flow_of_fixed_seconds(api: Any, traffic: CountedTraffic) -> None:
    config = two_ports()
    _flow_that_measures(config).duration.fixed_seconds.seconds = 2.5
    api.set_config(config)
    _transmit(api, "start")
    assert traffic.durations_s == {0: 2.5}
    assert _flow_metrics(api)[0].transmit == "started"
    # It has: nothing here waits for the time to be over, and nothing is stopped once more.
    traffic.on.clear()
    assert _flow_metrics(api)[0].transmit == "stopped"


def test_port_metrics_by_name_and_column(api: Any) -> None:
    config = two_ports()
    api.set_config(config)
    request = api.metrics_request()
    request.port.port_names = ["p2"]
    request.port.column_names = ["frames_tx", "link"]
    (metric,) = api.get_metrics(request).port_metrics
    assert (metric.name, metric.frames_tx, metric.link) == ("p2", 10, "down")
    assert metric.frames_rx is None


def test_errors_have_otgs_form_and_a_path(api: Any, says: Says) -> None:
    config = two_ports()
    config.lags.add(name="lag")
    with pytest.raises(Exception, match="lag") as caught:
        api.set_config(config)
    error = api.from_exception(caught.value)
    assert error.kind == "validation"
    assert error.errors == [says("lags[0]")]
    assert error.code in (400, 3)


def test_what_is_not_there_is_refused(api: Any, says: Says) -> None:
    api.set_config(two_ports())
    control = api.control_state()
    control.protocol.route.state = "withdraw"
    with pytest.raises(Exception) as caught:
        api.set_control_state(control)
    assert caught.value == says("protocol.route")
    with pytest.raises(Exception) as caught:
        _transmit(api, "start", "f9")
    assert caught.value == says("flow_names")
    request = api.metrics_request()
    request.bgpv4.peer_names = []
    with pytest.raises(Exception) as caught:
        api.get_metrics(request)
    assert caught.value == says("bgpv4")


def test_the_version_is_that_of_the_models(api: Any) -> None:
    found = api.get_version()
    assert found.api_spec_version == api.get_local_version().api_spec_version
    assert found.app_version.startswith("plimsoll ")


def test_neighbours_are_those_of_the_configuration(api: Any) -> None:
    config = two_ports()
    ethernet = config.devices.add(name="d").ethernets.add(name="eth")
    ethernet.connection.port_name, ethernet.mac = "p1", "02:00:00:00:00:01"
    ip = ethernet.ipv4_addresses.add(name="ip", address="10.0.0.1", gateway="10.0.0.2")
    ip.gateway_mac.value = "02:00:00:00:00:02"
    api.set_config(config)
    request = api.states_request()
    request.ipv4_neighbors.ethernet_names = []
    (neighbour,) = api.get_states(request).ipv4_neighbors
    assert (neighbour.ipv4_address, neighbour.link_layer_address) == (
        "10.0.0.2",
        "02:00:00:00:00:02",
    )


def test_streamed_calls(served: OtgSettings) -> None:
    if served.token:
        pytest.skip("snappi sends no metadata")
    api = snappi.api(location=served.grpc_location, transport="grpc")
    api.enable_grpc_streaming = True
    api._chunk_size = 100
    config = two_ports()
    _flow_that_measures(config)
    api.set_config(config)
    assert api.get_config().serialize() == config.serialize()


def test_without_the_token_nothing_is_answered(served: OtgSettings) -> None:
    if not served.token:
        pytest.skip("no token is needed")
    base = f"http://127.0.0.1:{served.rest.port}"
    assert requests.get(f"{base}/config", timeout=60).status_code == 401
    assert requests.get(f"{base}/wrong/config", timeout=60).status_code == 401
    bearer = {"Authorization": f"Bearer {_TOKEN}"}
    assert requests.get(f"{base}/config", headers=bearer, timeout=60).status_code == 200
    with grpc.insecure_channel(served.grpc_location) as channel:
        stub = otg_pb2_grpc.OpenapiStub(channel)
        request = otg_pb2.GetMetricsRequest()
        with pytest.raises(grpc.RpcError) as caught:
            stub.GetMetrics(request)
        assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
        metadata = (("authorization", f"Bearer {_TOKEN}"),)
        assert stub.GetMetrics(request, metadata=metadata).metrics_response.choice


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({"Content-Type": "application/json", "Origin": "http://evil.example"}, b"{}", 403),
        ({"Content-Type": "application/json", "Host": "evil.example"}, b"{}", 421),
        ({"Content-Type": "application/json"}, b"[" * 100_000, 400),
        ({"Content-Type": "application/json"}, b"[]", 400),
        ({"Content-Type": "application/json"}, b'{"ports": [{"nam": "x"}]}', 400),
        ({"Content-Type": "application/json"}, b"\xff\xfe", 400),
        ({"Content-Type": "application/json"}, b" " * (MAX_REQUEST_BYTES + 1), 413),
    ],
)
def test_hostile_requests(
    served: OtgSettings, headers: dict[str, str], body: bytes, status: int
) -> None:
    answer = requests.post(f"{served.rest_location}/config", body, headers=headers, timeout=60)
    assert answer.status_code == status
    error = json.loads(answer.text)
    assert error["errors"]
    assert error["kind"] == "validation"


def test_flows_that_are_together_more_than_the_line_are_not_started(says: Says) -> None:
    traffic = CountedTraffic()
    tester = Tester(2, ((0, 1), (1, 0)), line_rate_bps=1e9)
    session = OtgSession(traffic, tester)
    config = two_ports()
    for name, share, delay_us in (("a", 60, 0), ("b", 40, 0), ("c", 1, 0), ("late", 50, 1000)):
        flow = one_flow(config, name, size=64)
        flow.rate.percentage = share
        flow.duration.continuous.delay.microseconds = delay_us
    session.set_config(config.serialize("dict"))
    with pytest.raises(Refusal) as caught:
        session.set_control_state(_transmission("start", "a", "b", "c"))
    assert caught.value == says("p1", "flow_names", "1.01", "Gbps")
    assert traffic.on == set()
    session.set_control_state(_transmission("start", "a", "b", "late"))
    with pytest.raises(Refusal, match=r"1\.01 Gbps"):
        session.set_control_state(_transmission("start", "c"))
    session.set_control_state(_transmission("stop", "late", "b"))
    session.set_control_state(_transmission("start", "c"))
    session.close()


def test_frames_that_were_due_and_not_sent_are_said_by_flow(says: Says) -> None:
    traffic = CountedTraffic()
    session = OtgSession(traffic, Tester(2, ((0, 1), (1, 0)), line_rate_bps=1e9))
    config = two_ports()
    for name in ("a", "b"):
        one_flow(config, name, size=64).rate.percentage = 10
    session.set_config(config.serialize("dict"))
    assert session.set_control_state(_transmission("start", "a")) == {"warnings": []}
    traffic.skipped = 1200
    assert session.set_control_state(_transmission("stop", "b")) == {"warnings": []}
    (said,) = session.set_control_state(_transmission("stop", "a"))["warnings"]
    assert said == says("'a'", "1,200", "1,250")
    session.close()


def _transmission(state: str, *names: str) -> dict[str, Any]:
    transmit = {"state": state, "flow_names": list(names)}
    return {
        "choice": "traffic",
        "traffic": {"choice": "flow_transmit", "flow_transmit": transmit},
    }
