"""net_null: takes every frame, and makes frames of its own that are foreign."""

from tests.integration.engine.port_bed import FRAMES, open_ports, stream
from tests.integration.engine.requests import trial_request
from tests.integration.engine.session import EngineSession


def test_it_swallows_what_is_sent_and_returns_strangers(engine: EngineSession) -> None:
    (port,) = open_ports(engine, "net_null0", queues=2)
    # The one software driver that says it spreads flows: it draws the queue itself.
    assert (port["driver"], port["rx_queues"], port["rss"]) == ("net_null", 2, True)
    streams = [stream(queue, 0, 0, queue, 60) for queue in (0, 1)]
    reply = engine.ask(trial_request(*streams, duration_s=0.3))
    for counts in reply["streams"]:
        assert (counts["sent"], counts["received"], counts["missing"]) == (FRAMES, 0, FRAMES)
    assert reply["ports"][0]["foreign"] > 0
    engine.finish()


def test_without_receiving_there_are_no_strangers(engine: EngineSession) -> None:
    open_ports(engine, "net_null0,no-rx=1")
    reply = engine.ask(trial_request(stream(0, 0, 0, 0, 60), duration_s=0.3))
    assert reply["streams"][0]["sent"] == FRAMES
    assert reply["ports"][0]["foreign"] == 0
    engine.finish()
