"""What a loop's sampled ticks say of how busy it was: next to nothing, or most of its time."""

import json
from dataclasses import replace

from plimsoll.generator.engine.messages import read_message
from plimsoll.generator.interface import Interval
from plimsoll.record.metrics.interval_samples import TesterCapacity, utilisation_samples
from plimsoll.traffic.plan import StreamPlan
from tests.integration.engine.requests import CPUS, FRAME, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.tried_again import SpoiltByMachine

DURATION_S = 0.5
PLAN = StreamPlan(0, "load/0-0", "load", 0, 0, (FRAME,), None)


def busy_percent(engine: EngineSession, opened: Message, request: Message) -> tuple[float, float]:
    """The shares of sending and of receiving over the whole of a trial."""
    whole_s = {"duration_s": DURATION_S, "interval_s": DURATION_S, "drain_s": 0}
    reply = engine.ask({**request, **whole_s})
    last = engine.intervals[-1]
    # The totals in the guise of an interval as long as the time of sending.
    whole = {**last, "begin_s": 0.0, "end_s": reply["sending_s"], "workers": reply["workers"]}
    whole["ports"] = []
    interval = read_message(json.dumps(whole).encode())
    assert isinstance(interval, Interval)
    cpus = frozenset({CPUS[0]})
    capacity = TesterCapacity({}, opened["tsc_hz"], cpus, cpus)
    # Of workers alone: what was sent in between does not matter here.
    samples = utilisation_samples((PLAN,), replace(interval, streams=()), capacity)
    found = {sample.metric.type: sample.value for sample in samples}
    return found["tx-cpu-util"], found["rx-cpu-util"]


def test_a_saturated_loop_is_busy_and_an_idle_one_is_not(engine: EngineSession) -> None:
    opened = engine.ask(open_request("net_ring0"))
    saturated = stream(0, 1, pacing={"kind": "back-to-back"})
    del saturated["rate_pps"]
    tx, rx = busy_percent(engine, opened, {**trial_request(saturated), "id": 2})
    # Ten frames a second: the loop polls at full speed all the same, and finds nothing.
    idle_tx, idle_rx = busy_percent(engine, opened, {**trial_request(stream(0, 10)), "id": 3})
    # Frames go round on one loop, so both shares are of one and the same time.
    assert 0 <= idle_tx < tx < 100
    assert 0 <= idle_rx < rx < 100
    stalled_ns = engine.messages[-1]["workers"][0]["stalled_ns"]
    if idle_tx + idle_rx >= 1 and stalled_ns > 0.01 * DURATION_S * 1e9:
        raise SpoiltByMachine(f"a sampled loop was away for {stalled_ns / 1e6:.3g} ms")
    assert idle_tx + idle_rx < 1 < tx + rx
    engine.finish()
