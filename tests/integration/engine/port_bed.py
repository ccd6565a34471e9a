"""What tests of port kinds share: ports by pairs, and frames that must all come back."""

from itertools import count

from tests.integration.engine.frames import udp_frame
from tests.integration.engine.requests import DESTINATION, Request, open_request, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.tried_again import SpoiltByMachine

RATE_PPS = 1000.0
DURATION_S = 0.3
FRAMES = 300
DRAIN_S = 0.5
# The last frames can come in after a stall of this length, but not after one of all the drain.
LONGEST_STALL_NS = 0.4e9
# A trial's late frames must not count in the next.
MARKS = count(2000)
CLEAN = {
    "sent": FRAMES,
    "received": FRAMES,
    "refused": 0,
    "missing": 0,
    "out_of_order": 0,
    "duplicate": 0,
    "corrupt": 0,
    "misdirected": 0,
}


def open_ports(
    engine: EngineSession,
    *devargs: str,
    queues: int = 1,
    max_frame_bytes: int = 1514,
    **more: object,
) -> list[Message]:
    """Open ports of so many queues each; what the engine says of them."""
    every = [[port, queue] for port in range(len(devargs)) for queue in range(queues)]
    # Two pools of 10,239 mbufs for each queue; of ordinary memory each takes whole pages.
    pages = -(-(max_frame_bytes + 800) // 4096)
    request = open_request(
        *devargs,
        memory={"huge": False, "megabytes": 64 + len(every) * 80 * pages},
        max_frame_bytes=max_frame_bytes,
        **more,
    )
    for worker in request["workers"]:
        worker.update(tx=every, rx=every)
    return list(engine.ask(request)["ports"])


def stream(number: int, tx_port: int, rx_port: int, queue: int, length: int) -> Request:
    """A stream of 1024 flows."""
    return {
        "stream": number,
        "role": "load",
        "tx_port": tx_port,
        "tx_queue": queue,
        "rx_port": rx_port,
        "rate_pps": RATE_PPS,
        "frames": [udp_frame(length).hex()],
        "fields": [DESTINATION],
    }


def assert_carries(
    engine: EngineSession,
    paths: tuple[tuple[int, int], ...] = ((0, 1), (1, 0)),
    queues: int = 1,
    length: int = 60,
    fanned_out: bool = False,
) -> Message:
    """Send on every path and queue: each frame must come back once, whole and in order.

    Where flows are `fanned_out` over receive queues, a stream has no order among them.
    """
    streams = [
        stream(number, tx_port, rx_port, queue, length)
        for number, (tx_port, rx_port, queue) in enumerate(
            (tx_port, rx_port, queue) for tx_port, rx_port in paths for queue in range(queues)
        )
    ]
    reply = carried(engine, *streams)
    for counts in reply["streams"]:
        found = {name: counts[name] for name in CLEAN}
        if fanned_out:
            found["out_of_order"] = 0
        assert found == CLEAN, engine.stderr
    for port in reply["ports"]:
        assert {name: port[name] for name in ("stale", "rx_missed", "rx_errors", "rx_no_mbuf")} == {
            "stale": 0,
            "rx_missed": 0,
            "rx_errors": 0,
            "rx_no_mbuf": 0,
        }
    return reply


def carried(engine: EngineSession, *streams: Request, duration_s: float = DURATION_S) -> Message:
    """What the engine says of a trial of these streams.

    Raises SpoiltByMachine where a loop was off its CPU for too long for all frames to come back.
    """
    request = trial_request(*streams, duration_s=duration_s, drain_s=DRAIN_S, mark=next(MARKS))
    reply = engine.ask(request)
    stalled_ns = max(worker["worst_stall_ns"] for worker in reply["workers"])
    if stalled_ns > LONGEST_STALL_NS:
        # What is still under way comes in here, and is stale.
        engine.ask({**request, "mark": next(MARKS)})
        raise SpoiltByMachine(f"a polling loop was off its CPU for {stalled_ns / 1e9:.3g} s")
    return reply


def refusal(engine: EngineSession, *devargs: str, **more: object) -> Message:
    """The fatal error that opening these ports must end in."""
    error = engine.ask_in_vain(open_request(*devargs, **more))
    assert error["fatal"]
    assert engine.end() == 1
    return error
