"""A neighbour that is stress-ng, by the class of what it disturbs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.ip_command import find_program
from plimsoll.host.processes.child import Child
from plimsoll.neighbours.neighbour import Achieved, NeighbourModel
from plimsoll.neighbours.stress_ng_report import read_report
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import NotRun
from plimsoll.text.quantities import ByteRateField, FrequencyField

PROGRAM = "stress-ng"
StressorClass = Literal["memory-bandwidth", "cache", "branch", "ipi", "io", "timer"]


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
