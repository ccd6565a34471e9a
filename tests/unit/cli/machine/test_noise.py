"""`plimsoll osnoise`: options, exit codes, and what is printed of a result."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from plimsoll.benchmark.noise.noise import NoiseSettings
from plimsoll.cli.machine import osnoise as command
from plimsoll.host.cpus import allowed_cpus
from plimsoll.record.causes.causes_record import ExplainedIncident, Remedy
from plimsoll.record.results.noise_result import (
    CpuNoise,
    GapBucket,
    GapQuantile,
    NoiseCause,
    NoiseResult,
    NoiseTrace,
)
from plimsoll.terminal.tables.noise_summary import print_noise
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says, passage

CPU = min(allowed_cpus())
US = 1_000


def cpu_noise(cpu: int, max_ns: int) -> CpuNoise:
    return CpuNoise(
        cpu=cpu,
        measured_ns=10**9,
        looks=1_000_005,
        min_ns=20,
        max_ns=max_ns,
        quantiles=(GapQuantile(quantile=0.5, ns=21), GapQuantile(quantile=0.999, ns=40)),
        buckets=(
            GapBucket(from_ns=0, below_ns=100, count=1_000_000),
            GapBucket(from_ns=20 * US, below_ns=50 * US, count=5 + cpu),
        ),
        stalls=5,
        stalled_ns=150 * US,
        stalled_share=0.00015,
    )


def cause(name: str, **changes: Any) -> NoiseCause:
    plain: dict[str, Any] = {
        "kind": "task",
        "name": name,
        "owner": "tester",
        "cpu": 1,
        "own": False,
        "occurrences": 3,
        "incidents": 3,
        "loss_share": None,
        "spike_share": None,
        "total_ns": 90 * US,
        "worst_ns": 31 * US,
        "confidence": "exact",
        "remedy": Remedy(text="keep it away", checks=(1,)),
        "time_share": 9e-5,
    }
    return NoiseCause.model_validate({**plain, **changes})


def result(max_ns: int | None = None, **changes: Any) -> NoiseResult:
    plain = NoiseResult(
        begun_at=datetime(2026, 11, 22, tzinfo=UTC),
        host="host",
        kernel="6.1",
        cpu_model=None,
        cmdline=None,
        versions={},
        tsc_hz=1e9,
        duration_s=10.0,
        stretches=1,
        threshold_ns=US,
        max_ns=max_ns,
        passed=None if max_ns is None else max_ns >= 31_500,
        cpus=(cpu_noise(1, 31_500), cpu_noise(2, 900)),
        listed_stalls=10,
        listed_ns=300 * US,
        causes=(cause("java"),),
        worst=(),
        trace=NoiseTrace(clock="x86-tsc"),
        own_share=0.0,
    )
    return plain.model_copy(update=changes)


def printed(found: NoiseResult) -> str:
    console = Console(width=200, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        print_noise(found, console)
    return captured.get()


def line_with(text: str, word: str) -> str:
    """The line, its columns a space apart."""
    return next(" ".join(line.split()) for line in text.splitlines() if word in line)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[NoiseSettings]:
    """Settings that were requested; the measurement is made up, its longest gap 31.5 us."""
    seen: list[NoiseSettings] = []

    def measured(settings: NoiseSettings) -> NoiseResult:
        seen.append(settings)
        return result(settings.max_ns)

    monkeypatch.setattr(command, "_measured", measured)
    return seen


@pytest.mark.parametrize(
    ("limit", "code"), [((), 0), (("--max", "31.5us"), 0), (("--max", "31us"), 1)]
)
def test_a_gap_above_the_limit_is_an_exit_code(
    plimsoll: Plimsoll, requests: list[NoiseSettings], limit: tuple[str, ...], code: int
) -> None:
    assert plimsoll("osnoise", "--cpus", CPU, *limit, "--json") == code
    document = json.loads(plimsoll.out)
    assert document["passed"] == (None if not limit else code == 0)
    assert document["format"] == "plimsoll-noise"
    assert len(requests) == 1


def test_options_are_what_is_measured(plimsoll: Plimsoll, requests: list[NoiseSettings]) -> None:
    words = ("--duration", "2m", "--threshold", "5us", "--max", "1ms", "--no-trace")
    assert plimsoll("osnoise", "--cpus", CPU, *words) == 0
    assert requests == [NoiseSettings((CPU,), 120.0, 5 * US, 1000 * US, trace=False)]


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("--cpus", "two"), ("two", "--cpus")),
        (("--cpus", "8191"), ("--cpus", "8191")),
        (("--cpus", CPU, "--duration", "long"), ("--duration",)),
        (("--cpus", CPU, "--duration", "1ms"), ("--duration", "0.001")),
        (("--cpus", CPU, "--threshold", "20"), ("--threshold",)),
        (("--cpus", CPU, "--threshold", "100ns"), ("--threshold", "100")),
        (("--cpus", CPU, "--max", "500ns"), ("--max", "500", "1")),
    ],
)
def test_bad_input_is_named_and_nothing_is_measured(
    plimsoll: Plimsoll,
    requests: list[NoiseSettings],
    words: tuple[object, ...],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    assert plimsoll("osnoise", *words) == 2
    assert plimsoll.err == says(*facts)
    assert "remedy: " in plimsoll.err
    assert requests == []


def test_gaps_and_their_histogram_are_by_cpu(says: Says) -> None:
    text = printed(result())
    assert passage(text, "10s") == says("10s")
    rows = [" ".join(line.split()) for line in text.splitlines() if "0.015 %" in line]
    assert rows == [
        "1 20 ns 21 ns 40 ns 31.5 µs 5 0.015 %",
        "2 20 ns 21 ns 40 ns 900 ns 5 0.015 %",
    ]
    assert line_with(text, "below 100 ns") == "below 100 ns 1,000,000 1,000,000"
    assert line_with(text, "20 µs to 50") == "20 µs to 50 µs 6 7"


def test_causes_are_printed_with_what_helps(says: Says) -> None:
    text = printed(result())
    assert line_with(text, "task: java") == "task: java 1 3 90 µs 0.009 % 31 µs exact"
    assert passage(text, "task", "java", "1") == says("task", "java", "1")


def test_an_unknown_length_is_a_dash_and_an_own_process_is_called_so(says: Says) -> None:
    unknown = cause("plimsoll", own=True, total_ns=None, worst_ns=None, time_share=None, cpu=None)
    row = line_with(printed(result(causes=(unknown,))), "Plimsoll's own")
    assert row == says("plimsoll", "3")


def test_a_process_by_a_hostile_name_drives_no_terminal() -> None:
    text = printed(result(causes=(cause("\x1b[2J[red]evil"),)))
    assert "\x1b" not in text
    assert "[red]evil" in text


def test_what_was_not_looked_into_is_said(says: Says) -> None:
    text = printed(result(listed_stalls=4, listed_ns=240 * US))
    assert passage(text, "4", "10", "80") == says("4", "10", "80")
    assert "Looked into" not in printed(result())


def test_a_missing_and_a_holed_trace_are_said(says: Says) -> None:
    missing = NoiseTrace(unavailable="no tracefs: mount it")
    assert passage(printed(result(trace=missing)), "no tracefs: mount it") == says()
    holed = NoiseTrace(clock="x86-tsc", incomplete_stretches=1)
    assert passage(printed(result(trace=holed)), "1") == says()


@pytest.mark.parametrize(("limit", "word"), [(31 * US, "above the 31 µs"), (40 * US, "within")])
def test_the_verdict_names_the_worst_cpu(limit: int, word: str, says: Says) -> None:
    last = printed(result(limit)).splitlines()[-1]
    assert last == says("1", "31.5")
    assert word in last


def test_the_longest_stalls_are_sentences() -> None:
    worst = ExplainedIncident(
        kind="stall",
        subject="CPU 1",
        begin_tsc=1,
        end_tsc=31_501,
        begin_unix_ns=None,
        frames=0,
        length_ns=31_500,
        sentence="stall of CPU 1, 31.5 µs: by java",
        causes=(),
    )
    assert "The longest:\n  stall of CPU 1, 31.5 µs: by java\n" in printed(result(worst=(worst,)))
