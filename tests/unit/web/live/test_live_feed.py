"""What browsers are sent of a run, look by look, of files that a test writes."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.record.index.run_entry import entry_of
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.journal import RUN_STARTED, TRIAL_STARTED, Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.web.live.live_feed import LiveFeed, LiveFeeds

S = 10**9
SENT = MetricType("trafficgen", "tx-pps", "throughput", "pps", "sum", counted=True)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory.create(tmp_path, "followed", {"name": "followed"})
    with Journal(made.journal) as journal:
        journal.append(RUN_STARTED, method="load-line")
    return made


def test_files_that_stand_still_are_not_read_again(run: RunDirectory) -> None:
    async def look_often() -> None:
        feed = LiveFeed(entry_of(run.run_id, run.path))
        with run.lock():
            first = await feed.look()
            assert first.state == "running"
            assert await feed.look() is first
            with Journal(run.journal) as journal:
                journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=1e6, planned_s=9)
            second = await feed.look()
            assert second.live.trial is not None
            assert await feed.look() is second
        assert (await feed.look()).state == "stopped"

    asyncio.run(look_often())


def test_a_browser_is_sent_the_whole_and_then_what_is_new(run: RunDirectory) -> None:
    async def follow() -> None:
        feeds = LiveFeeds()
        log = MetricLog("trial-0001", 0)
        with run.lock(), Journal(run.journal) as journal:
            journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=1e6, planned_s=9)
            with MetricsWriter(run, "trial-0001") as writer:
                series = log.series(SENT, {}, 0)
                for at in (0, 1, 2):
                    writer.append(log.tick("trafficgen", at * S, (at + 1) * S, [series], [500]))
                stream = feeds.documents(entry_of(run.run_id, run.path))
                whole = await anext(stream)
                assert whole is not None
                assert [point["at"] for point in whole["points"]] == [1, 2, 3]
                assert whole["trial"]["load"] == "1 Mpps"
                assert whole["now_ms"] == pytest.approx(time.time() * 1000, abs=60_000)
                writer.append(log.tick("trafficgen", 3 * S, 4 * S, [series], [700]))
                news = await _next_document(stream)
                # The last that was sent may have been half of itself, so it comes again.
                assert [point["at"] for point in news["points"]] == [3, 4]
                assert news["figures"]["sent"] == "700 pps"
                feeds.closing.set()
                with pytest.raises(StopAsyncIteration):
                    await anext(stream)
        assert feeds.closing.is_set()

    asyncio.run(follow())


def test_a_drain_that_was_sent_is_taken_back(run: RunDirectory) -> None:
    """What a trial's last interval was is only known once the trial has ended, or by its plan."""

    async def follow() -> None:
        feeds = LiveFeeds()
        log = MetricLog("trial-0001", 0)
        with run.lock(), Journal(run.journal) as journal:
            journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=1e6, planned_s=2)
            with MetricsWriter(run, "trial-0001") as writer:
                series = log.series(SENT, {}, 0)
                for at in (0, 1):
                    writer.append(log.tick("trafficgen", at * S, (at + 1) * S, [series], [500]))
                stream = feeds.documents(entry_of(run.run_id, run.path))
                whole = await anext(stream)
                assert whole is not None
                writer.append(log.tick("trafficgen", 2 * S, 2 * S + S // 10, [series], [0]))
                news = await _next_document(stream)
                assert [point["at"] for point in news["points"]] == [2]
                assert news["figures"]["sent"] == "500 pps"
                feeds.closing.set()
                with pytest.raises(StopAsyncIteration):
                    await anext(stream)

    asyncio.run(follow())


def test_two_browsers_share_a_feed_and_the_last_takes_it_along(run: RunDirectory) -> None:
    async def follow() -> int:
        feeds = LiveFeeds()
        entry = entry_of(run.run_id, run.path)
        with run.lock():
            first, second = feeds.documents(entry), feeds.documents(entry)
            await anext(first)
            await anext(second)
            assert len(feeds.followed) == 1
            await first.aclose()
            assert len(feeds.followed) == 1
            await second.aclose()
        return len(feeds.followed)

    assert asyncio.run(follow()) == 0


async def _next_document(
    stream: AsyncGenerator[dict[str, Any] | None, None],
) -> dict[str, Any]:
    async for document in stream:
        if document is not None:
            return document
    raise AssertionError("the stream has ended")
