"""The examples of docs/python.md, run as they are written there."""

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.unit.analysis.simulated import write_releases

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "python.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What all the examples, one after the other, come to where a folder runs/ is."""
    folder = tmp_path_factory.mktemp("notebook")
    write_releases(folder / "runs")
    names: dict[str, Any] = {"folder": folder}
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for code in EXAMPLES:
            exec(compile(code, str(DOCUMENT), "exec"), names)  # noqa: S102 - it is our own text
        return names


@pytest.fixture(scope="module")
def results(shown: dict[str, Any]) -> list[dict[str, Any]]:
    """Each run's own result.json and release, the last run's last."""
    folders = sorted((shown["folder"] / "runs").iterdir())
    return [
        json.loads((folder / "result.json").read_text())
        | {"release": json.loads((folder / "notes.json").read_text())["tags"]["release"]}
        for folder in folders
    ]


@pytest.mark.slow
def test_the_load_line_and_its_latency(
    shown: dict[str, Any], results: list[dict[str, Any]]
) -> None:
    last = results[-1]
    assert shown["run"].load_line_pps == last["load_line"]["pps_per_direction"]
    probes = [stream for stream in last["streams"] if stream["role"] == "latency"]
    assert shown["latency"].get_total_count() == sum(each["latency"]["count"] for each in probes)
    worst_ns = max(each["latency"]["max_ns"] for each in probes)
    assert shown["p99_9_ns"] <= worst_ns * 1.0079
    cdf = shown["cdf"]
    assert cdf["count"].sum() == shown["latency"].get_total_count()
    assert cdf["share"].is_sorted()
    assert cdf["share"][-1] == 1.0
    assert worst_ns <= cdf["up_to_ns"][-1] <= worst_ns * 1.0079
    assert shown["chart"].to_dict()["encoding"]["x"]["title"] == "round trip, ns"


def test_two_releases(shown: dict[str, Any], results: list[dict[str, Any]]) -> None:
    by_release = {row["tag.release"]: row for row in shown["load_lines"].to_dicts()}
    assert list(by_release) == ["1.0", "1.1"]
    for release, row in by_release.items():
        lines = [
            each["load_line"]["pps_per_direction"] for each in results if each["release"] == release
        ]
        assert row["runs"] == 2
        assert row["median_pps"] == median(lines)
        assert row["worst_pps"] == min(lines)
        assert row["all_passed"] is True
    # The DUT of the second release carries a fifth less.
    assert by_release["1.1"]["median_pps"] < by_release["1.0"]["worst_pps"]
    assert set(shown["p99_ns"]) == {"1.0", "1.1"}


def test_rates_of_many_runs_are_those_of_their_proofs(
    shown: dict[str, Any], results: list[dict[str, Any]]
) -> None:
    rates = shown["rx_pps"]
    assert rates.height == 2 * len(results)
    for result in results:
        for port in (0, 1):
            (value,) = rates.filter(run=result["run_id"], tx_port=str(port))["value"]
            # The last interval ends after the last frame, so a little more time than frames.
            received = sum(s["received"] for s in result["streams"] if s["tx_port"] == port)
            assert value == pytest.approx(received / 12, rel=0.2)


def test_busy_cpus_with_received_frames(shown: dict[str, Any]) -> None:
    joined = shown["with_rx"]
    # Ten windows of the one CPU that is busy by more than a half: 0.75 usr and 0.05 sys.
    assert joined.height == 10
    assert joined["hostname"].unique().to_list() == ["sut"]
    assert joined["num"].unique().to_list() == ["5"]
    assert joined["busy_cpus"].to_list() == pytest.approx([0.8] * 10)
    # Both directions, at the load line.
    both_pps = 2 * shown["run"].load_line_pps
    assert joined["rx_pps"].to_list() == pytest.approx([both_pps] * 10, rel=0.01)
    (per_cpu,) = shown["frames_per_cpu"]["pps_per_busy_cpu"]
    assert per_cpu == pytest.approx(both_pps / 0.8, rel=0.01)
