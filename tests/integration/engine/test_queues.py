"""Several queues a port: net_ring's queues each return what was sent on them."""

from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.interface import Interval, TrialPlan, WorkerLayout
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.traffic.plan import FieldWriter, StreamPlan
from tests.integration.engine.port_bed import carried
from tests.integration.engine.requests import CPUS, FRAME, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession

MEMORY = {"huge": False, "megabytes": 256}


def test_one_worker_polls_several_queues(engine: EngineSession) -> None:
    worker = {"cpu": CPUS[0], "tx": [[0, 0], [0, 1]], "rx": [[0, 1], [0, 0]]}
    opened = engine.ask(open_request("net_ring0", workers=[worker], memory=MEMORY))
    assert (opened["ports"][0]["rx_queues"], opened["ports"][0]["tx_queues"]) == (2, 2)
    reply = engine.ask(trial_request(stream(0, 50_000), stream(1, 20_000, tx_queue=1)))
    for counts, frames in zip(reply["streams"], [5000, 2000], strict=True):
        assert counts["sent"] == counts["received"] == frames
        assert counts["missing"] == counts["out_of_order"] == counts["duplicate"] == 0
    engine.finish()


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_each_queue_its_worker(engine: EngineSession) -> None:
    workers = [
        {"cpu": cpu, "tx": [[0, queue]], "rx": [[0, 1 - queue]]}
        for queue, cpu in enumerate(CPUS[:2])
    ]
    engine.ask(open_request("net_ring0", workers=workers, memory=MEMORY))
    reply = carried(engine, stream(0, 1500), stream(1, 1000, tx_queue=1), duration_s=0.4)
    assert [counts["received"] for counts in reply["streams"]] == [600, 400]
    engine.finish()


def test_a_queue_without_a_worker_is_no_queue_to_send_on(loopback: EngineSession) -> None:
    error = loopback.ask_in_vain(trial_request(stream(0, 1000, tx_queue=1)))
    assert error["where"] == "streams[0].tx_queue"
    assert error["message"] == "must be an integer from 0 to 0"


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_a_stream_over_two_queues_is_whole_to_the_caller(tmp_path: Path) -> None:
    engine = Engine.start(tmp_path / "log", {"RUNTIME_DIRECTORY": str(tmp_path)})
    field = FieldWriter(30, 4, count=10, fixes=(24, 40))
    load = StreamPlan(0, "load/0-0", "load", 0, 0, (FRAME,), 3000.0, fields=(field,))
    plan = TrialPlan(mark=9, streams=(load,), duration_s=0.4, drain_s=0.2, catch_up_us=1e6)
    # As four CPUs would poll two queues each way, on two.
    workers = tuple(
        WorkerLayout(cpu, ((0, queue),), ((0, queue),)) for queue, cpu in enumerate(CPUS[:2])
    )
    with closing(engine):
        engine.open(
            workers=workers,
            stamps="tsc",
            memory=MemoryPlan(huge=False, megabytes=256),
            devargs=["net_ring0"],
            descriptors=1024,
            main_cpus=CPUS,
            max_frame_bytes=60,
        )
        intervals: list[Interval] = []
        report = engine.trial(plan, lambda interval: bool(intervals.append(interval)))
    assert engine.ports[0].tx_queues == 2
    for whole in (report, intervals[-1]):
        assert [counts.stream for counts in whole.streams] == [0]
    (counts,) = report.streams
    assert counts.sent == counts.received == 1200
    assert counts.latency.count + counts.latency_across_stalls.count == 1200
    assert counts.missing == counts.out_of_order == counts.duplicate == 0
