"""A calibration that is kept: what `plimsoll calibrate` found of this tester, for later runs."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.record.calibrations.calibration import CalibrationPoint


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
