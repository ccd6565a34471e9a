"""A calibration that is kept: what `plimsoll calibrate` found of this tester, for later runs."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.files.whole_file import read_whole, write_whole


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TesterIdentity(_Part):
    """Which tester a calibration is of. Another one's is worth nothing: it is not shown.

    `cpus` are the polling loops' in the order given, which decides what each of them
    does. `port_kind` is the driver's name, such as net_ring, and `latency_clock` what
    stamps frames that come in: "tsc" or "hardware". `generator` is the name of the generator
    and `engine` its version, `dpdk` that of its DPDK.
    """

    host: str | None
    cpu_model: str | None
    cpus: tuple[int, ...]
    port_kind: str
    latency_clock: str
    generator: str = "engine"
    engine: str
    dpdk: str


class CleanRate(_Part):
    """The highest rate found at which the tester alone neither skips, lacks nor loses a frame.

    `pps_per_direction` was carried in all directions at once and confirmed by
    `clean_trials` trials among `trials` at that rate, each of `trial_s`. `fault_above`
    says what the tester did at the next higher rate that was tried; null where the
    search ended for want of higher rates.
    """

    pps_per_direction: float
    clean_trials: int = Field(ge=1)
    trials: int = Field(ge=1)
    trial_s: float
    fault_above: str | None


class StoredCalibration(_Part):
    """The tester alone, over `directions` paths that hold nothing but the tester.

    `points` are idle (probes only), one in flight (the floor: the next probe leaves when
    the last is back), and at half the clean rate and at it, where there is one. Nothing
    of them is ever subtracted from a result.
    """

    tester: TesterIdentity
    measured_at: datetime
    kernel: str | None
    traffic: str
    directions: int
    points: tuple[CalibrationPoint, ...] = Field(min_length=1)
    clean_rate: CleanRate | None

    @property
    def bias_ns(self) -> int | None:
        """What the tester adds to a latency: the median of idle probes, or None without any."""
        return self.points[0].latency.p50_ns


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
