"""`test rfc2544`, `test rfc9004`, `probe`, `latency-at-load` over dpdk-testpmd, and SIGKILL."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import (
    QUICK,
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    kill_when,
)
from tests.integration.unspoilt import unspoilt

# So low and forgiving that the throughput is the maximum, however busy the machine.
CARRIED = ("--quick", "--maximum", "8kpps", "--loss", "50%")


# Under `plimsoll test`; the others are commands of their own.
STANDARDS = ("rfc2544", "rfc9004")


def result_of(place: Workplace, method: str, *words: object) -> tuple[int, dict[str, Any]]:
    """The exit status and the result of a command that leaves nothing behind but its record."""
    before = hugepages()
    # Whether a DUT can be overloaded is the machine's matter.
    run_it = place.run if method == "rfc9004" else partial(unspoilt, place)
    command = ("test", method) if method in STANDARDS else (method,)
    done = run_it(*command, *words, "--json")
    assert done.returncode in (0, 1, 5), done.stderr
    assert_nothing_is_left(place, before)
    run = place.only_run()
    result: dict[str, Any] = json.loads(done.stdout)
    assert_keeps_to_schema(result, f"{method}-result")
    assert json.loads((run / "result.json").read_text()) == result
    page = (run / "report.html").read_text()
    # By default; every 10 s where no CPU is free of polling loops.
    assert re.search("was read every 10? s by a process", page)
    assert "<h3>" + json.loads((run / "audit.json").read_text())["host"] in page
    phases = Counter(trial["phase"] for trial in finished_trials(run))
    assert result["trials"]["by_phase"] == phases
    return done.returncode, result


def seen(kind: str, number: int, **fields: object) -> Callable[[Path], bool]:
    """Whether a run's journal has so many events of a kind, of trials with these fields."""

    def is_one(event: dict[str, Any]) -> bool:
        shown: dict[str, Any] = event.get("trial", event)
        return event["kind"] == kind and shown.items() >= fields.items()

    def in_journal(run: Path) -> bool:
        return sum(is_one(event) for event in journal(run)) >= number

    return in_journal


@pytest.mark.full
def test_all_of_rfc_2544(place: Workplace) -> None:
    words = (place.experiment(), *CARRIED, "--sizes", "64,512", "--runs", place.runs)
    status, result = result_of(place, "rfc2544", *words)
    assert status == 0
    parts = result["parts"]
    assert set(parts) == {
        *("throughput", "latency", "frame_loss"),
        *("back_to_back", "recovery", "reset"),
    }
    (reset,) = parts.pop("reset")
    assert reset["outage_s"] is None
    assert reset["reason"]
    for rows in parts.values():
        assert [row["subject"]["frames"] for row in rows] == ["64", "512"]
        assert {row["subject"]["maximum_pps"] for row in rows} == {8000}
    # With preamble and gap, 64 B are 672 bits and 512 B are 4256.
    for row, bits in zip(parts["throughput"], (672, 4256), strict=True):
        assert row["intended_pps"] == 8000
        assert row["l1_bps"] == pytest.approx(row["pps"] * bits)
    for row in parts["frame_loss"]:
        assert [each["percent"] for each in row["points"]][:2] == [100, 90]
    for row in parts["recovery"]:
        assert (row["overload_pps"], row["reduced_pps"]) == (8000, 4000)
    assert result["quick"]
    assert {each["section"] for each in result["shortfalls"]} >= {"24", "26.2", "26.4", "26.5"}


@pytest.mark.full
def test_rfc_2544_killed_in_the_middle(place: Workplace) -> None:
    tests = ("--tests", "throughput,frame-loss", "--sizes", "64")
    kept = kill_when(
        place,
        ["test", "rfc2544", place.experiment(), *CARRIED, *tests],
        seen("trial", 1, phase="frame-loss"),
        "the first trial of frame loss",
    )
    status, result = result_of(place, "rfc2544", "--resume", place.only_run())
    assert status == 0
    trials = finished_trials(place.only_run())
    assert trials[: len(kept)] == kept
    steps = [trial["step"] for trial in trials if trial["step"] is not None]
    assert sorted(set(steps)) == sorted(steps)
    assert steps[:3] == ["ceiling/64/1", "throughput/64/1", "throughput/64/2"]
    assert [trial["phase"] for trial in trials].count("calibration") == 2
    # Every throughput stands on the trials of the first session.
    numbers = [trial["number"] for trial in kept]
    assert {row["final_trial"] for row in result["parts"]["throughput"]} <= set(numbers)
    assert [row["subject"]["frames"] for row in result["parts"]["frame_loss"]] == ["64"]


@pytest.mark.full
@pytest.mark.parametrize("maximum", ["8kpps", "6Mpps"])
def test_rfc_9004_of_what_fills_no_buffer_and_of_what_may(place: Workplace, maximum: str) -> None:
    words = ("--quick", "--sizes", "64", "--maximum", maximum, "--burst-limit", "10ms")
    experiment = place.experiment(search={"minimum": "1kpps", "maximum": "8kpps"})
    status, result = result_of(
        place, "rfc9004", experiment, *words, "--repeats", "1", "--runs", place.runs
    )
    (row,) = result["rows"]
    # Whether this DUT can be overloaded is the machine's matter; that it is reported is ours.
    assert status == (0 if row["valid"] else 5)
    assert row["valid"] or row["reason"]
    throughput = row["throughput"]
    assert throughput["subject"]["frames"] == "64"
    if (
        throughput["pps"] is None
        or throughput["intended_pps"] == throughput["subject"]["maximum_pps"]
    ):
        assert row["bursts"] is None
        assert "back-to-back" not in result["trials"]["by_phase"]
        return
    frames = row["bursts"]["frames"]
    assert row["bursts"]["values"] == [frames["mean"]]
    assert row["bursts"]["limit_frames"] == throughput["subject"]["maximum_pps"] / 100
    implied_s = frames["mean"] / throughput["subject"]["maximum_pps"]
    assert row["implied_s"] == pytest.approx(implied_s)
    share = throughput["pps"] / throughput["subject"]["maximum_pps"]
    assert row["corrected_s"] == pytest.approx(implied_s * (1 - share))


def assert_windows_add_up(result: dict[str, Any]) -> None:
    (statistics,) = result["statistics"]
    stream = statistics["stream"]
    assert stream["samples"] > 0
    assert sum(samples for _, samples in stream["latency_us"]) == stream["samples"]
    assert stream["samples"] + stream["across_stalls"] == stream["received"] <= stream["sent"]
    for figure in ("sent", "samples", "timed_out"):
        assert sum(window[figure] for window in result["windows"]) == stream[figure]
    assert min(each["min_ns"] or stream["max_ns"] for each in result["windows"]) == stream["min_ns"]


def test_a_probe_of_a_few_seconds(place: Workplace) -> None:
    words = (place.experiment(), "--duration", "3s", "--rate", "1kpps", "--runs", place.runs)
    status, result = result_of(place, "probe", *words)
    assert status == 0
    assert result["ended"] == "duration"
    assert_windows_add_up(result)
    # A thousand a second and one in flight at most.
    assert result["statistics"][0]["stream"]["sent"] <= 1000 * result["probed_s"] + 1
    (segment,) = result["segments"]
    assert segment["gap_s"] == 0


@pytest.mark.full
def test_a_probe_killed_in_the_middle(place: Workplace) -> None:
    live = place.experiment(
        trial={**QUICK["trial"], "live": True}, tester={**QUICK["tester"], "max_own_share": "100%"}
    )
    words = ["probe", live, "--duration", "5s", "--rate", "1kpps"]
    kill_when(place, words, seen("probe-window", 2), "the second window")
    windows = [each["window"] for each in journal(place.only_run()) if "window" in each]
    status, result = result_of(place, "probe", "--resume", place.only_run())
    assert status == 0
    after = [each["window"] for each in journal(place.only_run()) if "window" in each]
    assert after[: len(windows)] == windows
    assert_windows_add_up(result)
    first, second = result["segments"]
    assert first["verdict"] == "none"
    assert first["sending_s"] == windows[-1]["end_s"]
    assert first["sending_s"] + second["sending_s"] == pytest.approx(result["probed_s"])
    assert second["gap_s"] > 0
    assert result["ended"] == "duration"


@pytest.mark.full
def test_latency_at_load(place: Workplace) -> None:
    words = (place.experiment(), "--quick", "--rate", "8kpps", "--runs", place.runs)
    status, result = result_of(place, "latency-at-load", *words)
    assert status == 0
    points = result["points"]
    assert [(each["percent"], each["load_pps"]) for each in points] == [
        *((0, 0), (10, 800)),
        *((50, 4000), (90, 7200)),
    ]
    probe, load = ["probe/0-1"], ["load/0-1", "load/1-0", "probe/0-1"]
    streams = [[stream["name"] for stream in each["streams"]] for each in points]
    assert streams == [probe, load, load, load]
    for point in points:
        assert point["streams"][-1]["latency"]["count"] > 0
