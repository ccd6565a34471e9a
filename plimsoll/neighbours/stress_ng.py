"""A neighbour that is stress-ng, by the class of what it disturbs."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.host.processes.child import Child
from plimsoll.neighbours.neighbour import Achieved, IntensityUnit, NeighbourModel
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun
from plimsoll.text.quantities import ByteRateField, FrequencyField

PROGRAM = "stress-ng"
StressorClass = Literal["memory-bandwidth", "cache", "branch", "ipi", "io", "timer"]
_UNIT: IntensityUnit = "bogo-ops/s"
_RATE = "bogo-ops-per-second-real-time"
_CPU_TIMES = ("user-time", "system-time")
# What every stressor has; the rest is its own.
_OF_ALL = frozenset(
    {
        "stressor",
        "bogo-ops",
        "bogo-ops-per-second-usr-sys-time",
        _RATE,
        "wall-clock-time",
        *_CPU_TIMES,
        "cpu-usage-per-instance",
        "max-rss",
    }
)


@dataclass(frozen=True, slots=True)
class Stressor:
    """The stressor of stress-ng 0.15 that stands for a class, and its further options."""

    name: str
    options: tuple[str, ...] = ()


# memrate rather than stream: of 0.15.06's two, stream takes four times the last-level cache that
# the CPU says it has, 5.9 GB on a virtual machine of a host with 480 MiB, and 14 s to end.
# The cache stressor moves its workers from CPU to CPU unless an option forbids it.
STRESSORS: Mapping[StressorClass, Stressor] = {
    "memory-bandwidth": Stressor("memrate", ("--memrate-bytes", "256M")),
    "cache": Stressor("cache", ("--cache-no-affinity",)),
    "branch": Stressor("branch"),
    "ipi": Stressor("tlb-shootdown"),
    "io": Stressor("hdd", ("--hdd-bytes", "64M", "--hdd-opts", "wr-seq,rd-seq,fsync")),
    "timer": Stressor("timer"),
}
_DEFAULT_HZ = 10_000
# The granularity of --memrate-rd-mbs and -wr-mbs.
_MEGABYTE = 1024 * 1024


class StressNgSettings(NeighbourModel):
    """stress-ng with one class of stressor.

    `rate`, of memory-bandwidth, is what each worker reads or writes at most; `frequency`, of
    timer, how often each worker's timer expires (10kHz). `directory`, of io, is where the files
    lie, by default among the temporary ones.
    """

    kind: Literal["stress-ng"] = "stress-ng"
    stressor: StressorClass
    rate: ByteRateField | None = Field(default=None, ge=_MEGABYTE)
    frequency: FrequencyField | None = Field(default=None, ge=1, le=1_000_000)
    directory: Annotated[Path, NotRun("a folder for stress-ng's files")] | None = None

    @model_validator(mode="after")
    def _fields_are_the_stressors(self) -> Self:
        for name, stressor in (
            ("rate", "memory-bandwidth"),
            ("frequency", "timer"),
            ("directory", "io"),
        ):
            if getattr(self, name) is not None and self.stressor != stressor:
                raise mistake(
                    f"the stressor {self.stressor} takes none",
                    f"remove it, or use stressor: {stressor}",
                    name,
                )
        return self

    @model_validator(mode="after")
    def _interrupts_another_cpu(self) -> Self:
        if self.stressor == "ipi" and len(self.cpus) == 1 and self.cgroup is None:
            raise mistake(
                f"on CPU {self.cpus[0]} alone there is no other CPU to interrupt",
                "name at least two CPUs: those whose IPIs are meant, the DUT's among them",
                "cpus",
            )
        return self

    @property
    def name(self) -> str:
        """The class."""
        return f"{PROGRAM} {self.stressor}"

    @property
    def level(self) -> str:
        """The rate or the frequency."""
        if self.rate is not None:
            return f"{self.rate / 1e6:g} MB/s a worker"
        if self.stressor == "timer":
            return f"{self._frequency_hz} Hz a worker"
        return ""

    @property
    def work_directory(self) -> Path | None:
        """Of io, which writes files."""
        if self.stressor != "io":
            return None
        return self.directory or Path(tempfile.gettempdir())

    def find_program(self) -> str:
        """stress-ng on PATH."""
        try:
            return find_program(PROGRAM, PROGRAM)
        except MachineError as error:
            error.remedy = f"{error.remedy}, or leave the noise out: --set noise=[]"
            raise

    def argv(self, program: str, report: Path, folder: Path) -> tuple[str, ...]:
        """It runs until it is signalled to end.

        With names kept, its workers keep the environment too, by which they are known as the
        run's own after a kill; else it overwrites that with their titles.
        """
        stressor = STRESSORS[self.stressor]
        return (
            program,
            f"--{stressor.name}",
            str(self.worker_count),
            *stressor.options,
            *self._level_options(),
            *("--timeout", "0", "--keep-name", "--metrics"),
            *("--yaml", str(report), "--temp-path", str(folder)),
        )

    def is_ready(self, child: Child, processes: int) -> bool:
        """Its workers are processes next to the one that started them."""
        return processes > self.worker_count

    def achieved(self, child: Child, report: Path) -> Achieved:
        """By the YAML that it writes when it ends."""
        try:
            text = report.read_text()
        except (OSError, UnicodeDecodeError) as error:
            return Achieved("bogo-ops/s", unknown=f"stress-ng left no report: {error}")
        return read_report(text, STRESSORS[self.stressor].name)

    @property
    def _frequency_hz(self) -> int:
        return self.frequency or _DEFAULT_HZ

    def _level_options(self) -> tuple[str, ...]:
        if self.stressor == "timer":
            return ("--timer-freq", str(self._frequency_hz))
        if self.rate is None:
            return ()
        megabytes = str(self.rate // _MEGABYTE)
        return ("--memrate-rd-mbs", megabytes, "--memrate-wr-mbs", megabytes)


# What stress-ng says of itself: the YAML of --metrics --yaml.
def read_report(text: str, stressor: str) -> Achieved:
    """The bogo operations a second of the stressor's workers together, and its own figures."""
    try:
        document = load_yaml(text)
    except ValueError as error:
        return Achieved(_UNIT, unknown=f"stress-ng's report cannot be read: {error}")
    metrics = document.get("metrics") if isinstance(document, Mapping) else None
    found = [
        each
        for each in (metrics if isinstance(metrics, list) else ())
        if isinstance(each, Mapping) and each.get("stressor") == stressor
    ]
    if not found:
        return Achieved(_UNIT, unknown=f"stress-ng's report says nothing of {stressor}")
    return _achieved(found[0], _program(document))


def _achieved(metrics: Mapping[str, object], program: str | None) -> Achieved:
    times = [_number(metrics.get(name)) for name in _CPU_TIMES]
    rate = _number(metrics.get(_RATE))
    return Achieved(
        _UNIT,
        intensity=rate,
        cpu_s=None if None in times else math.fsum(time or 0.0 for time in times),
        figures=dict(_figures(metrics)),
        program=program,
        unknown=None if rate is not None else "stress-ng's report has no rate",
    )


def _figures(metrics: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for name, given in metrics.items():
        value = _number(given)
        if name not in _OF_ALL and value is not None:
            yield str(name), value


def _program(document: Mapping[str, object]) -> str | None:
    system = document.get("system-info")
    version = system.get("stress-ng-version") if isinstance(system, Mapping) else None
    return None if version is None else f"stress-ng {version}"


def _number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return float(given)


NEIGHBOUR = StressNgSettings
