"""Streams that pause and frames with short signatures, through a real dpdk-testpmd over memif."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.integration.command import (
    QUICK,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    workplace,
)
from tests.integration.unspoilt import unspoilt
from tests.tried_again import tried_again

pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("dpdk-testpmd") is None,
        reason="dpdk-testpmd is missing: install dpdk-dev (Debian 12) or dpdk (Fedora)",
    ),
]

ONE_WAY = {"role": "load", "direction": "unidirectional"}
STREAMS = [
    # Sends in the seconds 1 and 2, 4 and 5; the direction of the others has no pause.
    {
        "name": "pausing",
        **ONE_WAY,
        "rate": "3kpps",
        "schedule": {"start": "1s", "duration": "2s", "repeat": True, "pause": "1s"},
    },
    # 16 bytes of payload.
    {"name": "short", "role": "load", "direction": "revunidirectional", "rate": "1kpps"}
    | {"protocol": "TCP", "frame_size": 74},
    # A packet of 28 bytes in a frame of 64.
    {"name": "padded", "role": "load", "direction": "revunidirectional", "rate": "1kpps"}
    | {"frame_size": 40},
    # Begins when the trial is over.
    {"name": "later", **ONE_WAY, "rate": "1kpps", "schedule": {"start": "1m"}},
]


@dataclass(frozen=True)
class FinishedTrial:
    record: dict[str, Any]
    directory: Path

    def stream(self, name: str) -> dict[str, Any]:
        (found,) = (each for each in self.record["streams"] if each["name"].startswith(name))
        return dict(found)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FinishedTrial]:
    before = hugepages()
    with workplace(tmp_path_factory.mktemp("schedule")) as place:
        experiment = place.experiment(
            profile={"streams": STREAMS}, trial=QUICK["trial"] | {"warmup": None}
        )
        words = ("--load", "1x", "--duration", "6s", "--runs", place.runs, "--json")
        done = tried_again(lambda: unspoilt(place, "trial", experiment, *words))
        assert done.returncode == 0, done.stdout + done.stderr
        assert_nothing_is_left(place, before)
        (trial,) = finished_trials(place.only_run())
        yield FinishedTrial(trial, place.only_run())


def _tx_pps(finished: FinishedTrial) -> list[tuple[float, float]]:
    """Middle of each interval, in s, and the rate of the direction that pauses."""
    series = finished.directory / f"metrics/trial-{finished.record['number']:04d}.parquet"
    rows = duckdb.execute(
        "SELECT (begin_ms + end_ms) / 2000.0, value, begin_ms FROM read_parquet(?) "
        "WHERE source = 'trafficgen' AND type = 'tx-pps' AND names['tx_port'] = '0' ORDER BY 1",
        [str(series)],
    ).fetchall()
    first_ms = rows[0][2]
    return [(at_s - first_ms / 1000, value) for at_s, value, _ in rows if value is not None]


def test_the_rates_of_the_intervals_have_the_gaps(finished: FinishedTrial) -> None:
    sending = {0: False, 1: True, 2: True, 3: False, 4: True, 5: True}
    seen: dict[int, list[float]] = {}
    for at_s, pps in _tx_pps(finished):
        seen.setdefault(int(at_s), []).append(pps)
    for second, expected in sending.items():
        mean_pps = sum(seen[second]) / len(seen[second])
        assert (mean_pps > 1000) == expected, (second, seen)


def test_the_frames_are_those_of_the_schedule(finished: FinishedTrial) -> None:
    """Of 6 s the stream sends in 4; what was due and skipped is counted too."""
    pausing = finished.stream("pausing")
    assert pausing["sent"] + pausing["skipped"] + pausing["refused"] == pytest.approx(12_000, abs=4)
    assert pausing["received"] == pausing["sent"]
    assert finished.stream("later")["sent"] == 0


def test_frames_with_a_short_signature_are_counted_and_not_timed(finished: FinishedTrial) -> None:
    short = finished.stream("short")
    assert short["received"] == short["sent"] > 0
    assert (short["lost"], short["duplicate"], short["out_of_order"], short["corrupt"]) == (0,) * 4
    assert short["latency"]["count"] == 0


def test_a_signature_in_the_padding_is_whole(finished: FinishedTrial) -> None:
    padded = finished.stream("padded")
    assert padded["received"] == padded["sent"] > 0
    assert padded["mean_frame_size"] == 64
    samples = padded["latency"]["count"] + padded["samples_across_stalls"]
    assert samples == padded["received"]


def test_the_verdict_is_of_what_was_due(finished: FinishedTrial) -> None:
    """Invalid had the tester been held to 18,000 frames; nothing is said of what never began."""
    rates = [each for each in finished.record["findings"] if each["rule"] == "offered-rate"]
    subjects = {each["subject"].partition("/")[0] for each in rates}
    assert subjects == {"pausing", "short", "padded"}
    (text,) = (each["text"] for each in rates if each["subject"].startswith("pausing"))
    assert "of 12,0" in text or "of 11,9" in text
    assert finished.record["verdict"] == "pass"
