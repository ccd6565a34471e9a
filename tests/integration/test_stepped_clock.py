"""A run whose wall clock is set meanwhile: its figures are those of its trials."""

from __future__ import annotations

import math
from glob import glob
from itertools import pairwise
from pathlib import Path

import pytest

from plimsoll.analysis.runs import open_run
from plimsoll.generator.engine.program import find_engine
from plimsoll.record.query import MetricQuery, ask, parse_breakouts
from plimsoll.record.run.file_check import check_run
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory, trial_period
from tests.integration.command import workplace

# Debian's package faketime.
LIBRARIES = glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
# Set back by more than all trials take together, and forth again by less.
OFFSETS_S = (-300, -200, -450, 0, -500)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LIBRARIES, reason="needs libfaketime (apt install faketime)"),
]


def test_figures_of_trials_are_the_records_while_the_clock_is_set(tmp_path: Path) -> None:
    offset = tmp_path / "offset"
    offset.write_text("+0\n")
    with workplace(tmp_path) as place:
        place.environment["PLIMSOLL_ENGINE"] = str(engine_under(tmp_path, offset))
        any_loss = [{"kind": "loss-ratio", "at_most": "100%"}]
        experiment = place.experiment(lab={"kind": "loopback"}, criteria=any_loss)
        process = place.start("run", experiment, "--runs", place.runs)
        assert process.stderr is not None
        steps = iter(OFFSETS_S)
        # A line for each trial that has ended.
        for line in process.stderr:
            if line.lstrip()[:1].isdigit() and (step := next(steps, None)) is not None:
                offset.write_text(f"{step}\n")
        process.communicate(timeout=60)
        assert process.returncode in (0, 5)
        check(RunDirectory.open(place.only_run()))


def engine_under(folder: Path, offset: Path) -> Path:
    """The engine, whose clock is that of a host which is set as `offset` says.

    Python itself cannot sleep under libfaketime 0.9.10 (clock_nanosleep until a time).
    """
    program = folder / "engine"
    program.write_text(
        f"#!/bin/sh\nLD_PRELOAD={LIBRARIES[0]} FAKETIME_TIMESTAMP_FILE={offset} "
        f'FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 exec {find_engine()} "$@"\n'
    )
    program.chmod(0o755)
    return program


def check(run: RunDirectory) -> None:
    trials = read_journal(run.journal).trials()
    begins = [trial.begin_unix_ns for trial in trials]
    assert any(later < earlier for earlier, later in pairwise(begins)), "the clock was never set"
    opened = open_run(run.path, run.path.parent)
    for trial in trials:
        for stream in trial.streams:
            if not stream.latency.count:
                continue
            histogram = opened.trial(trial.number).latency(stream.name)
            assert histogram.get_total_count() == stream.latency.count
            (row,) = ask(
                run,
                MetricQuery(
                    "trafficgen-engine",
                    "p99-round-trip-usec",
                    period=trial_period(trial.number),
                    breakouts=parse_breakouts(f"stream={stream.name}"),
                    # Drains are part of the record's quantiles.
                    begin=0,
                    end=4_102_444_800_000,
                ),
            ).rows
            assert stream.latency.p99_ns is not None
            assert math.isclose(row.whole * 1e3, stream.latency.p99_ns, rel_tol=0.01)
    assert list(check_run(run)) == []
