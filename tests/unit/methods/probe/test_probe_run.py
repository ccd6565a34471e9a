"""A probe on the simulated DUT: buckets, windows, and what a kill leaves."""

from pathlib import Path

import pytest

from plimsoll.errors import Interrupted
from plimsoll.generator.interface import Interval
from plimsoll.methods.probe.page import probe_answer, run_page
from plimsoll.methods.probe.run import probe_streams, run_probe
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.traffic.streams.profile import Profile
from tests.unit.benchmark.simulated_tests import Seen, experiment, run_directory
from tests.worded.says import Says

SETTINGS = ProbeSettings(duration_s=10)
PATHS = ((0, 1), (1, 0))


class Kill(Seen):
    """Breaks off at an interval, as a kill does: the trial has no end."""

    def __init__(self, at_s: float) -> None:
        super().__init__()
        self._at_s = at_s

    def interval(self, interval: Interval) -> None:
        if interval.end_s >= self._at_s:
            raise Interrupted("SIGKILL")


def probed(tmp_path: Path) -> RunDirectory:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    run_probe(plan, SETTINGS, run, Seen())
    return run


def test_every_probe_is_counted_in_both_directions(tmp_path: Path) -> None:
    plan = experiment()
    result = run_probe(plan, SETTINGS, run_directory(tmp_path, plan), Seen())
    assert [each.stream.name for each in result.statistics] == ["probe/0-1", "probe/1-0"]
    for each in result.statistics:
        stream = each.stream
        # 10 kpps for 10 s; one waits for a return of some 10 us, so none is late.
        assert stream.sent == pytest.approx(100_000, rel=0.01)
        assert (each.lost, stream.timed_out) == (0, 0)
        assert sum(samples for _, samples in stream.latency_us) == stream.samples
        assert stream.min_ns is not None
        assert each.median_ns is not None
        assert stream.min_ns // 1000 == stream.latency_us[0][0]
        # The model's latency is 10 us in the mean.
        assert 9_000 <= each.median_ns <= 11_000
    assert len(result.windows) == 2 * 10
    assert (result.ended, len(result.segments)) == ("duration", 1)
    assert result.probed_s == pytest.approx(10)


def test_the_page_has_the_buckets_with_percentiles_up_to_a_hundred(tmp_path: Path) -> None:
    run = probed(tmp_path)
    buckets = next(s for s in probe_answer(run).sections if s.title == "Buckets of 1 µs")
    for table in buckets.tables:
        assert table.words()[1][-1][-1] == "100.000000"
    assert [figure.name for figure in run_page(run).figures] == [
        "probe-buckets",
        "probe-windows",
        "trial-1-rate",
    ]


def test_a_killed_probe_keeps_its_windows_and_probes_for_the_rest(
    tmp_path: Path, says: Says
) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_probe(plan, SETTINGS, run, Kill(at_s=4.0))
    answer = probe_answer(run)
    assert answer.heading == says("probe", "3s")
    result = run_probe(plan, SETTINGS, run, Seen())
    first, second = result.segments
    assert (first.verdict, first.sending_s) == ("none", pytest.approx(3.0))
    assert (second.verdict, second.sending_s) == ("pass", pytest.approx(7.0))
    assert result.probed_s == pytest.approx(10.0)
    for stream in ("probe/0-1", "probe/1-0"):
        lines = [line for line in result.windows if line.stream == stream]
        assert sum(line.length_s for line in lines) == pytest.approx(10.0)
        assert {line.trial for line in lines} == {1, 2}


def test_without_probes_in_the_profile_the_load_s_frames_probe() -> None:
    profile = Profile.model_validate({"streams": [{"name": "load", "role": "load"}]})
    streams = probe_streams(profile, PATHS, SETTINGS)
    assert [(s.name, s.role, s.pacing.kind, s.rate_pps) for s in streams] == [
        ("load/0-1", "latency", "one-in-flight", 10_000),
        ("load/1-0", "latency", "one-in-flight", 10_000),
    ]


def test_the_quick_preset_says_so(tmp_path: Path, says: Says) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    assert run_probe(plan, ProbeSettings.quickly(), run, Seen()).quick
    assert probe_answer(run).warnings == (says("10s"),)
