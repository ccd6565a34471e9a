"""What the engine counts when the path loses nothing: exactly what it was requested to send."""

from itertools import pairwise
from math import ceil

import pytest

from tests.integration.engine.histograms import check_against_hdr, merged
from tests.integration.engine.port_bed import carried
from tests.integration.engine.requests import CPUS, DESTINATION, open_request, stream, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.tried_again import tried_again

COUNTERS = (
    "sent",
    "refused",
    "skipped",
    "received",
    "out_of_order",
    "duplicate",
    "corrupt",
    "misdirected",
)
HISTOGRAMS = ("latency", "latency_across_stalls", "lateness")
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


def assert_clean(counts: Message, frames: int) -> None:
    """So many frames were sent, and all came back in order, once and whole."""
    expected = dict.fromkeys(COUNTERS, 0) | {"sent": frames, "received": frames}
    assert {name: counts[name] for name in COUNTERS} == expected
    assert counts["missing"] == 0
    assert counts["latency"]["count"] + counts["latency_across_stalls"]["count"] == frames


@pytest.mark.parametrize(
    ("rate_pps", "duration_s", "frames"),
    [
        (0.01, 0.1, 1),
        (10, 0.1, 1),
        (1000, 0.2, 200),
        (2999, 1, 2999),
        (33_333, 0.25, ceil(33_333 / 4)),
        (100_000.5, 0.2, ceil(20_000.1)),
        (700_001, 0.1, ceil(70_000.1)),
        (1_000_000, 0.2, 200_000),
    ],
)
def test_a_stream_sends_its_rate_times_the_duration_and_gets_it_back(
    loopback: EngineSession, rate_pps: float, duration_s: float, frames: int
) -> None:
    reply = loopback.ask(trial_request(stream(0, rate_pps), duration_s=duration_s))
    assert_clean(reply["streams"][0], frames)
    assert reply["ended_by"] == "duration"
    assert reply["sending_s"] == pytest.approx(duration_s, abs=1e-6)
    for port in reply["ports"]:
        assert (port["foreign"], port["stale"], port["link_up"]) == (0, 0, True)


def test_streams_of_all_kinds_side_by_side(loopback: EngineSession) -> None:
    there_and_back = {"tx_port": 1, "rx_port": 1}
    reply = loopback.ask(
        trial_request(
            stream(0, 50_000, fields=[DESTINATION]),
            stream(1, 1000, role="latency"),
            stream(65535, 70_000, **there_and_back),
            stream(9, 300, role="latency", **there_and_back),
            duration_s=0.3,
        )
    )
    assert [counts["stream"] for counts in reply["streams"]] == [0, 1, 65535, 9]
    frames = [15_000, 300, 21_000, 90]
    for counts, sent in zip(reply["streams"], frames, strict=True):
        assert_clean(counts, sent)
    # Lateness is of the probes.
    assert [counts["lateness"]["count"] for counts in reply["streams"]] == [0, 300, 0, 90]


@pytest.fixture(scope="module")
def trial_in_intervals(standing_loopback: EngineSession) -> tuple[list[Message], Message]:
    """A trial of 0.3 s in intervals of 50 ms, and the drain's."""
    request = trial_request(
        stream(0, 100_000),
        stream(1, 1000, role="latency", tx_port=1, rx_port=1),
        duration_s=0.3,
        interval_s=0.05,
    )

    def attempt() -> Message:
        standing_loopback.messages.clear()
        return standing_loopback.ask(request)

    reply = tried_again(attempt)
    return standing_loopback.intervals, reply


def test_intervals_follow_each_other_without_gaps(
    trial_in_intervals: tuple[list[Message], Message],
) -> None:
    intervals, _ = trial_in_intervals
    assert [interval["index"] for interval in intervals] == list(range(7))
    assert [interval["phase"] for interval in intervals] == 6 * ["send"] + ["drain"]
    assert {interval["id"] for interval in intervals} == {2}
    assert intervals[0]["begin_s"] == 0
    for before, after in pairwise(intervals):
        assert after["begin_s"] == before["end_s"] > before["begin_s"]
        assert after["end_unix_ns"] > before["end_unix_ns"]


def test_intervals_add_up_to_the_totals(
    trial_in_intervals: tuple[list[Message], Message],
) -> None:
    intervals, reply = trial_in_intervals
    for index, total in enumerate(reply["streams"]):
        parts = [interval["streams"][index] for interval in intervals]
        for name in (*COUNTERS, "missing"):
            assert sum(part[name] for part in parts) == total[name]
        for name in HISTOGRAMS:
            assert merged([part[name] for part in parts]) == total[name]
    for index, total in enumerate(reply["ports"]):
        parts = [interval["ports"][index] for interval in intervals]
        for name in ("foreign", "stale", "rx_missed", "rx_errors", "rx_no_mbuf"):
            assert sum(part[name] for part in parts) == total[name]


def test_the_workers_own_account_adds_up(
    trial_in_intervals: tuple[list[Message], Message],
) -> None:
    intervals, reply = trial_in_intervals
    (total,) = reply["workers"]
    parts = [interval["workers"][0] for interval in intervals]
    assert total["cpu"] == CPUS[0]
    for name in ("polls", "idle_polls", "stalls"):
        assert sum(part[name] for part in parts) == total[name]
    # Each of the parts was rounded down to a nanosecond.
    assert 0 <= total["stalled_ns"] - sum(part["stalled_ns"] for part in parts) < len(parts)
    assert max(part["worst_stall_ns"] for part in parts) == total["worst_stall_ns"]
    assert 0 < total["idle_polls"] < total["polls"]
    for account, most in ((total, 64), *((part, 16) for part in parts)):
        lengths = [stall["length_ns"] for stall in account["longest"]]
        assert len(lengths) == min(most, account["stalls"])
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[:1] == [account["worst_stall_ns"]][: len(lengths)]


def test_histograms_are_hdrhistograms(trial_in_intervals: tuple[list[Message], Message]) -> None:
    intervals, reply = trial_in_intervals
    for message in (*intervals, reply):
        for counts in message["streams"]:
            for name in HISTOGRAMS:
                check_against_hdr(counts[name])


def test_a_frame_on_another_port_is_misdirected_and_not_received(loopback: EngineSession) -> None:
    reply = loopback.ask(trial_request(stream(0, 10_000, rx_port=1)))
    (counts,) = reply["streams"]
    assert counts["sent"] == counts["misdirected"] == counts["missing"] == 1000
    assert counts["received"] == counts["latency"]["count"] == 0


def test_trials_of_one_engine_know_nothing_of_each_other(loopback: EngineSession) -> None:
    for number in range(3):
        reply = loopback.ask(
            trial_request(stream(0, 20_000), id=10 + number, mark=65534 - number, duration_s=0.1)
        )
        assert_clean(reply["streams"][0], 2000)
        assert sum(part["streams"][0]["sent"] for part in loopback.intervals) == 2000
        loopback.messages.clear()


@two_cpus
def test_a_worker_for_each_port(engine: EngineSession) -> None:
    workers = [
        {"cpu": CPUS[0], "tx": [[0, 0]], "rx": [[0, 0]]},
        {"cpu": CPUS[1], "tx": [[1, 0]], "rx": [[1, 0]]},
    ]
    engine.ask(open_request("net_ring0", "net_ring1", workers=workers))
    reply = engine.ask(
        trial_request(
            stream(0, 200_000),
            stream(1, 100_000, tx_port=1, rx_port=1),
            stream(2, 1000, tx_port=1, rx_port=1, role="latency"),
            interval_s=0.05,
        )
    )
    for counts, frames in zip(reply["streams"], [20_000, 10_000, 100], strict=True):
        assert_clean(counts, frames)
    assert [worker["cpu"] for worker in reply["workers"]] == CPUS[:2]
    engine.finish()


@two_cpus
def test_a_worker_that_sends_and_one_that_receives(engine: EngineSession) -> None:
    workers = [
        {"cpu": CPUS[1], "tx": [[0, 0]], "rx": []},
        {"cpu": CPUS[0], "tx": [], "rx": [[0, 0]]},
    ]
    engine.ask(open_request("net_ring0", workers=workers))
    # At this rate the ring holds more than half a second of it, should the receiver be away.
    reply = carried(engine, stream(0, 1500), duration_s=0.4)
    assert_clean(reply["streams"][0], 600)
    engine.finish()


def test_a_port_that_returns_nothing(engine: EngineSession) -> None:
    engine.ask(open_request("net_null0,no-rx=1"))
    reply = engine.ask(trial_request(stream(0, 100_000)))
    (counts,) = reply["streams"]
    assert counts["sent"] == counts["missing"] == 10_000
    assert counts["received"] == 0
    engine.finish()


def test_a_port_that_floods_with_foreign_frames(engine: EngineSession) -> None:
    """net_null receives zeros without end."""
    engine.ask(open_request("net_null0"))
    reply = engine.ask(trial_request(stream(0, 10_000)))
    (counts,), (port,) = reply["streams"], reply["ports"]
    assert counts["sent"] == 1000
    assert counts["received"] == counts["corrupt"] == port["stale"] == 0
    assert port["foreign"] > 0
    engine.finish()
