"""Where calibrations are kept between runs: one small file for each tester."""

from __future__ import annotations

import os
import re
from pathlib import Path

from plimsoll.record.calibrations.stored_calibration import StoredCalibration, TesterIdentity
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import read_whole, write_whole


def calibration_folder() -> Path:
    """`plimsoll/calibrations` under $XDG_STATE_HOME, else under ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG base directory specification: a path that is not absolute is to be ignored.
    root = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return root / "plimsoll" / "calibrations"


def keep_calibration(calibration: StoredCalibration) -> Path:
    """Keep it in place of the tester's last one, and return its path. Raises RecordError."""
    path = _path(calibration.tester)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_failed(path, error) from error
    write_whole(path, calibration.model_dump_json(indent=2) + "\n")
    return path


def kept_calibration(tester: TesterIdentity) -> StoredCalibration | None:
    """The calibration of this very tester; None where there is none.

    Raises RecordError for a file that cannot be read.
    """
    found = read_whole(_path(tester), StoredCalibration, "measure anew: plimsoll calibrate")
    # Names that differ in odd characters share a file; their testers are still not the same.
    return found if found is not None and found.tester == tester else None


def _path(tester: TesterIdentity) -> Path:
    parts = (
        tester.host or "unknown-host",
        tester.port_kind,
        tester.latency_clock,
        f"cpus-{'-'.join(str(cpu) for cpu in tester.cpus)}",
        f"{tester.generator}-{tester.engine}",
        tester.dpdk,
    )
    name = "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", part) for part in parts)
    return calibration_folder() / f"{name}.json"
