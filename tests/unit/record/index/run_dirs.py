"""Run directories as files, made by hand: what a list of runs has to cope with."""

import binascii
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOON_NS = 1_773_489_605_000_000_000  # 2026-03-14T12:00:05Z
EXPERIMENT = "name: demo\nlab:\n  kind: testpmd-memif\n"
SIMULATED = "name: demo\nlab:\n  kind: simulated\n  model:\n    kind: rare-stalls\n"
# What a finished search leaves, with nothing that a list has no use for.
RESULT: dict[str, Any] = {
    "method": "load-line",
    "run_id": "r",
    "name": "demo",
    "load_line": {
        "pps_per_direction": 3_025_000.0,
        "total_pps": 6_050_000.0,
        "directions": 2,
        "frame_sizes": [64],
        "l1_bps_per_direction": 2.0e9,
        "l2_bps_per_direction": 1.5e9,
        "percent_of_line_rate": None,
    },
    "limited_by": "dut",
    "reason": None,
    "criteria": [],
    "validation": {
        "phase": "validation",
        "verdict": "pass",
        "trial": 7,
        "duration_s": 60.0,
        "load_pps": 3_025_000.0,
    },
    "trials": {"total": 7, "by_verdict": {"pass": 4, "fail": 3, "invalid": 0}, "by_phase": {}},
    "invalid_reasons": [],
    "streams": [],
    "dut_agreement": None,
    "calibration": None,
    "versions": {},
    "goals": [],
}


def started(method: str = "load-line", at_unix_ns: int = NOON_NS) -> dict[str, Any]:
    """The event that a run begins with."""
    versions = {"plimsoll": "0.1.0", "engine": None}
    return {"kind": "run-started", "at_unix_ns": at_unix_ns, "method": method, "versions": versions}


def single_trial(verdict: str = "fail", load_pps: float = 500_000.0) -> dict[str, Any]:
    """The event of the trial of a `plimsoll trial`, five seconds after noon's."""
    trial = {"number": 1, "phase": "single", "load_pps": load_pps, "verdict": verdict}
    return {"kind": "trial", "at_unix_ns": NOON_NS + 5_000_000_000, "trial": trial}


def finished(at_unix_ns: int = NOON_NS + 60_000_000_000) -> dict[str, Any]:
    """The event that a run ends with; `make_run` puts the result into it."""
    return {"kind": "finished", "at_unix_ns": at_unix_ns}


def lines(*events: Mapping[str, Any]) -> str:
    """Events as the lines of a journal."""
    return "".join(f"{line_of(event)}\n" for event in events)


def line_of(event: Mapping[str, Any]) -> str:
    """With its checksum: as docs/runs.md describes it."""
    text = json.dumps(event)[:-1]
    return f'{text}, "crc32": "{binascii.crc32(text.encode()):08x}"}}'


def make_run(
    root: Path,
    run_id: str = "20260314T120005-demo",
    *,
    experiment: str = EXPERIMENT,
    events: Sequence[Mapping[str, Any]] = (started(), finished()),
    result: Mapping[str, Any] | None = RESULT,
) -> Path:
    """A run directory; by default of a search that came to its load line."""
    path = root / run_id
    path.mkdir(parents=True)
    ended = {"result": result, "events_before": len(events) - 1}
    recorded = [event if event["kind"] != "finished" else {**event, **ended} for event in events]
    (path / "experiment.yaml").write_text(experiment)
    (path / "journal.jsonl").write_text(lines(*recorded))
    (path / "lock").write_text("12345\n")
    if result is not None:
        (path / "result.json").write_text(json.dumps(result))
    return path


def make_stopped(root: Path, run_id: str = "20260314T120005-demo", **changes: Any) -> Path:
    """A run that was killed after it began."""
    return make_run(root, run_id, **{"events": [started()], "result": None, **changes})


def make_matrix(root: Path, run_id: str = "20260314T130000-sizes", parts: int = 2) -> Path:
    """A matrix run of so many samples, each with a load line of its own."""
    path = make_run(
        root,
        run_id,
        experiment="name: sizes\nmatrix:\n  sets: []\n",
        events=[started("matrix")],
        result=None,
    )
    (path / "matrix.json").write_text("{}")
    (path / "iteration-0001").mkdir()
    for number in range(1, parts + 1):
        make_run(path / "iteration-0001", f"sample-{number}")
    (path / "iteration-0001" / "experiment.yaml").write_text(EXPERIMENT)
    return path


@contextmanager
def nobody() -> Iterator[None]:
    """Act without root's right to read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder into which `nobody` may look, unlike pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
