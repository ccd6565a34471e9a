"""net_ring: rings inside the engine, each queue its own return path."""

import pytest

from tests.integration.engine.port_bed import assert_carries, open_ports, refusal
from tests.integration.engine.requests import CPUS, open_request
from tests.integration.engine.session import EngineSession


@pytest.mark.parametrize("queues", [1, 2, 4])
def test_each_queue_carries_its_stream(engine: EngineSession, queues: int) -> None:
    (port,) = open_ports(engine, "net_ring0", queues=queues)
    assert (port["driver"], port["rx_queues"], port["tx_queues"]) == ("net_ring", queues, queues)
    assert (port["rss"], port["rx_stamps"], port["tx_stamps"]) == (False, False, False)
    assert port["latency_clock"] == "tsc"
    assert_carries(engine, paths=((0, 0),), queues=queues)
    engine.finish()


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_two_workers_share_a_port_by_queues(engine: EngineSession) -> None:
    workers = [
        {"cpu": cpu, "tx": [[0, queue]], "rx": [[0, queue]]} for queue, cpu in enumerate(CPUS[:2])
    ]
    request = {"workers": workers, "memory": {"huge": False, "megabytes": 256}}
    reply = engine.ask(open_request("net_ring0", **request))
    assert reply["ports"][0]["rx_queues"] == 2
    assert_carries(engine, paths=((0, 0),), queues=2)
    engine.finish()


@pytest.mark.parametrize("length", [1514, 9212])
def test_long_frames(engine: EngineSession, length: int) -> None:
    open_ports(engine, "net_ring0", max_frame_bytes=length)
    assert_carries(engine, paths=((0, 0),), length=length)
    engine.finish()


@pytest.mark.parametrize(
    ("stamps", "problem"),
    [("hardware", "has no hardware stamps"), ("timesync", "has no timesync for this port")],
)
def test_stamps_are_refused_where_the_driver_has_none(
    engine: EngineSession, stamps: str, problem: str
) -> None:
    error = refusal(engine, "net_ring0", ports=[{"devargs": "net_ring0", "stamps": stamps}])
    assert error["where"] == "ports[0].stamps"
    assert error["message"] == f"driver net_ring {problem}"
