"""The experiment's `resctrl` section: cache and memory bandwidth for groups of CPUs and tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from plimsoll.text.mistakes import brief, mistake
from plimsoll.text.quantities import read_byte_rate

T = TypeVar("T")
Member = Literal["noise", "tester", "dut"]
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}", re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3})\s*%", re.ASCII)
_MAX_DOMAINS = 1024


@dataclass(frozen=True, slots=True)
class MemoryBandwidth:
    """As much as a domain of memory gives at most: a share in percent, or bytes a second."""

    percent: int | None = None
    bytes_per_s: int | None = None

    def __str__(self) -> str:
        return f"{self.bytes_per_s}B/s" if self.percent is None else f"{self.percent}%"


# For every domain (cache) of the machine alike, or for some by the cache's id.
CacheMasks = int | dict[int, int]
Bandwidths = MemoryBandwidth | dict[int, MemoryBandwidth]


def _read_mask(given: object) -> int:
    if isinstance(given, str) and _HEXADECIMAL.fullmatch(given):
        return int(given, 16)
    # YAML reads 0xf as a number itself.
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << 64:
        return given
    raise mistake(f"found {brief(given)}", "write a bit mask of cache ways, such as 0x00f")


def _read_bandwidth(given: object) -> MemoryBandwidth:
    if isinstance(given, MemoryBandwidth):
        return given
    if isinstance(given, str):
        if match := _PERCENT.fullmatch(given.strip()):
            if not 1 <= int(match[1]) <= 100:
                raise mistake(f"found {brief(given)}", "give a share from 1% to 100%")
            return MemoryBandwidth(percent=int(match[1]))
        if given.strip().endswith("/s"):
            return MemoryBandwidth(bytes_per_s=read_byte_rate(given))
    raise mistake(f"found {brief(given)}", "write a share such as 20%, or a rate such as 4GB/s")


def _by_domain(read: Callable[[object], T]) -> Callable[[object], T | dict[int, T]]:
    """A reader of one value, or of a mapping from cache ids to values."""

    def read_all(given: object) -> T | dict[int, T]:
        if not isinstance(given, Mapping):
            return read(given)
        if not 1 <= len(given) <= _MAX_DOMAINS:
            raise mistake("no cache is named", "name caches by their ids, as in {0: 0xf, 1: 0xff}")
        return {_cache_id(key): read(value) for key, value in given.items()}

    return read_all


def _cache_id(given: object) -> int:
    text = str(given)
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        remedy = "name a cache by its id: /sys/devices/system/cpu/cpu*/cache/index*/id"
        raise mistake(f"{brief(given)} is not the id of a cache", remedy)
    return int(text)


def _written(write: Callable[[T], str]) -> Callable[[T | dict[int, T]], object]:
    def write_all(value: T | dict[int, T]) -> object:
        if isinstance(value, dict):
            return {str(cache): write(each) for cache, each in value.items()}
        return write(value)

    return write_all


_JSON_SCHEMA = WithJsonSchema({"type": ["string", "integer", "object"]})
MasksField = Annotated[
    CacheMasks, PlainValidator(_by_domain(_read_mask)), PlainSerializer(_written(hex)), _JSON_SCHEMA
]
BandwidthsField = Annotated[
    Bandwidths,
    PlainValidator(_by_domain(_read_bandwidth)),
    PlainSerializer(_written(str)),
    _JSON_SCHEMA,
]


class Schemata(BaseModel):
    """What a group may use of each resource, by the kernel's names; what is left out stays.

    L3 and L2 are masks of cache ways, for code and data apart where the machine was set up for
    that (CDP). MB is memory bandwidth.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    L3: MasksField | None = None
    L3CODE: MasksField | None = None
    L3DATA: MasksField | None = None
    L2: MasksField | None = None
    L2CODE: MasksField | None = None
    L2DATA: MasksField | None = None
    MB: BandwidthsField | None = None

    @model_validator(mode="after")
    def _is_not_said_twice(self) -> Self:
        for cache in ("L3", "L2"):
            for part in (f"{cache}CODE", f"{cache}DATA"):
                if getattr(self, cache) is not None and getattr(self, part) is not None:
                    remedy = f"state {cache} alone, for code and data alike, or {part} alone"
                    raise mistake(f"{cache} and {part} are both stated", remedy, part)
        return self

    @property
    def masks(self) -> Mapping[str, CacheMasks]:
        """Those of caches, by the resource's name."""
        names = ("L3", "L3CODE", "L3DATA", "L2", "L2CODE", "L2DATA")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def empty(self) -> bool:
        """Whether nothing is stated."""
        return not self.masks and self.MB is None


class ResctrlGroup(BaseModel):
    """A group, which is made for the run: who is `of` it, further `cpus`, and what it may use.

    `noise` are all neighbours by their tasks, wherever they run; `tester` and `dut` the CPUs
    that their loops poll.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$")]
    of: Annotated[tuple[Member, ...], Field(max_length=3)] = ()
    cpus: Annotated[tuple[Annotated[int, Field(ge=0, le=8191)], ...], Field(max_length=8192)] = ()
    schemata: Schemata = Schemata()

    @model_validator(mode="after")
    def _has_members(self) -> Self:
        if not self.of and not self.cpus:
            remedy = "add of: [noise], [tester] or [dut], or cpus: [2]"
            raise mistake(f"the group {self.name} has neither tasks nor CPUs", remedy)
        return self


class ResctrlSettings(BaseModel):
    """Groups of the kernel's resctrl, made for a run and removed after it.

    `default` is what everything else on the machine may use during the run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: Annotated[tuple[ResctrlGroup, ...], Field(min_length=1, max_length=64)]
    default: Schemata = Schemata()

    @field_validator("groups")
    @classmethod
    def _each_is_one(cls, groups: tuple[ResctrlGroup, ...]) -> tuple[ResctrlGroup, ...]:
        names: set[str] = set()
        members: dict[object, str] = {}
        for index, group in enumerate(groups):
            if group.name in names:
                raise mistake(f"two groups are called {group.name}", "rename one", index, "name")
            names.add(group.name)
            for field, who in _members(group):
                if who in members:
                    problem = f"{_called(who)} in the group {members[who]} already"
                    raise mistake(problem, "name it in one group alone", index, field)
                members[who] = group.name
        return groups

    def group_of(self, member: Member) -> str | None:
        """The name of the group that has the member; None where none has."""
        return next((group.name for group in self.groups if member in group.of), None)


def _members(group: ResctrlGroup) -> Iterator[tuple[str, Member | int]]:
    yield from (("of", member) for member in group.of)
    yield from (("cpus", cpu) for cpu in group.cpus)


def _called(who: object) -> str:
    return f"CPU {who} is" if isinstance(who, int) else f"{who} is"
