"""A neighbour: a program that disturbs on purpose, on stated CPUs or in a stated cgroup."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.host.processes.child import Child
from plimsoll.search.evidence.trial_evidence import recorded
from plimsoll.text.mistakes import mistake

IntensityUnit = Literal["bogo-ops/s", "B/s"]


@recorded
@dataclass(frozen=True, slots=True)
class NeighbourRun:
    """One entry of the experiment's `noise`, in its order.

    `intensity` is what all its workers did a second, in `unit`, by its own count over `ran_s`:
    from a little before frames were sent to a little after. It is null where the neighbour did
    not say, and `unknown` says why. A trial with one that `ended_early` is invalid.
    """

    name: Annotated[str, Field(description="What it was: its kind and what it disturbs.")]
    level: Annotated[
        str, Field(description="How much it was meant to do; empty for as much as it can.")
    ]
    cpus: Annotated[
        tuple[int, ...], Field(description="The CPUs that it was kept to; none for any.")
    ]
    cgroup: Annotated[
        str | None, Field(description="The cgroup it was put into, below /sys/fs/cgroup.")
    ]
    workers: Annotated[int, Field(description="How many processes or threads disturbed at once.")]
    niceness: Annotated[int, Field(description="The niceness of its workers.")]
    ran_s: Annotated[float, Field(description="How long it ran next to the trial, in s.")]
    unit: Annotated[IntensityUnit, Field(description="The unit of its intensity.")]
    intensity: Annotated[
        float | None,
        Field(description="What it did per second, in its unit; null if it reported nothing."),
    ]
    cpu_s: Annotated[
        float | None,
        Field(description="The CPU time that it took, in s; null if it reported nothing."),
    ]
    figures: Annotated[
        dict[str, float],
        Field(description="Further figures of its own, by the names that its program gives them."),
    ]
    program: Annotated[
        str | None, Field(description="The program, with its version if it reports one.")
    ]
    unknown: Annotated[
        str | None, Field(description="Why its intensity is unknown; null if it is known.")
    ]
    ended_early: Annotated[
        str | None,
        Field(description="How it ended before it was stopped; null if it ran until then."),
    ]


@dataclass(frozen=True, slots=True)
class Achieved:
    """What a neighbour did, by its own count, over all the time that it ran.

    `intensity` is in `unit`, `cpu_s` the CPU time that it took; None where it did not say, and
    `unknown` why. `figures` are further ones by the names that the program gives them.
    """

    unit: IntensityUnit
    intensity: float | None = None
    cpu_s: float | None = None
    figures: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    program: str | None = None
    unknown: str | None = None


class NeighbourModel(BaseModel, ABC):
    """Where a neighbour runs, and what every kind of one owes.

    `workers` are one for each of `cpus` unless stated, in a cgroup one. `niceness` is theirs;
    polling loops have -20, and leave a task of 0 on the same CPU about 1 % of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpus: tuple[Annotated[int, Field(ge=0)], ...] = Field(default=(), max_length=1024)
    cgroup: str | None = Field(default=None, min_length=1, max_length=1024)
    workers: int | None = Field(default=None, ge=1, le=1024)
    niceness: int = Field(default=0, ge=-20, le=19)

    @field_validator("cpus")
    @classmethod
    def _each_cpu_once(cls, cpus: tuple[int, ...]) -> tuple[int, ...]:
        twice = next((cpu for place, cpu in enumerate(cpus) if cpu in cpus[:place]), None)
        if twice is not None:
            raise mistake(f"CPU {twice} is named twice", "name each CPU once; add workers instead")
        return cpus

    @field_validator("cgroup")
    @classmethod
    def _cgroup_is_below_the_root(cls, cgroup: str | None) -> str | None:
        if cgroup is not None and (cgroup.startswith("/") or ".." in Path(cgroup).parts):
            raise mistake(
                f"{cgroup} is not a path below /sys/fs/cgroup",
                "write it relative to that folder, for example noisy.slice",
            )
        return cgroup

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if not self.cpus and self.cgroup is None:
            raise mistake(
                "neither CPUs nor a cgroup are stated",
                "add cpus: [2], or cgroup: noisy.slice",
            )
        return self

    @property
    def worker_count(self) -> int:
        """How many disturb at once."""
        return self.workers or len(self.cpus) or 1

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is, in reports and where it is named as a cause."""

    @property
    def level(self) -> str:
        """How much it is meant to do, for people; "" for as much as it can."""
        return ""

    @property
    def memory_bytes(self) -> int:
        """What it will fill of the machine's memory, as far as that is known."""
        return 0

    @property
    def work_directory(self) -> Path | None:
        """Where it makes files of its own; None where it makes none, or where does not matter."""
        return None

    @abstractmethod
    def find_program(self) -> str:
        """The path of its program. Raises MachineError with the remedy where it is missing."""

    @abstractmethod
    def argv(self, program: str, report: Path, folder: Path) -> tuple[str, ...]:
        """The command line, which writes to `report` and makes its files in `folder`."""

    @abstractmethod
    def is_ready(self, child: Child, processes: int) -> bool:
        """Whether it disturbs by now; `processes` are those in its session."""

    @abstractmethod
    def achieved(self, child: Child, report: Path) -> Achieved:
        """What it says of itself once it has ended; never raises for what it did not say."""
