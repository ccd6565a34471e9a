"""A list of CPUs as written, and the CPUs it means."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, GetPydanticSchema
from pydantic_core import core_schema

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.text.mistakes import brief, mistake

# More than 1024 CPUs take of which no two follow one another.
_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class CpuList:
    """`text` in the kernel's form, kept as written ("0,32,1,33"), for it goes into manifests."""

    text: str
    cpus: frozenset[int]

    @classmethod
    def of(cls, cpus: frozenset[int] | set[int]) -> CpuList:
        """The shortest list of `cpus`."""
        return cls(format_cpu_list(cpus), frozenset(cpus))

    @property
    def canonical(self) -> str:
        """The shortest list of the same CPUs, as the kernel prints it: "0-1,32-33"."""
        return format_cpu_list(self.cpus)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self.cpus))

    def __len__(self) -> int:
        return len(self.cpus)

    def __contains__(self, cpu: object) -> bool:
        return cpu in self.cpus

    def __str__(self) -> str:
        return self.text


def _read(given: object) -> CpuList:
    if isinstance(given, CpuList):
        return given
    # YAML reads one CPU as a number.
    text = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
    if not isinstance(text, str):
        raise mistake(f"found {brief(given)}", 'write a list of CPUs, for example "2-5,8"')
    if len(text) > _LONGEST:
        raise mistake(f"has {len(text)} characters", "write ranges, for example 2-5,8")
    try:
        return CpuList(text, frozenset(parse_cpu_list(text)))
    except InputError as error:
        raise mistake(error.message, error.remedy) from None


_SCHEMA = core_schema.no_info_plain_validator_function(
    _read,
    serialization=core_schema.plain_serializer_function_ser_schema(
        lambda cpus: cpus.text, return_schema=core_schema.str_schema()
    ),
)
_JSON_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^\s*\d+(-\d+)?\s*(,\s*\d+(-\d+)?\s*)*$"},
        {"type": "integer", "minimum": 0},
    ],
    "description": 'CPUs in the kernel\'s form, for example "2-5,8".',
}

# The field of a model: text in YAML and JSON, a CpuList in Python. Never empty.
CpuListField: TypeAlias = Annotated[
    CpuList,
    GetPydanticSchema(lambda _source, _handler: _SCHEMA, lambda _schema, _handler: _JSON_SCHEMA),
]


def _check_address(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise mistake(
            f"{brief(text)} is not an IP address", "write for example 192.0.2.1"
        ) from None
    return text


def _check_range(text: str) -> str:
    try:
        # An attachment's range may name a host in it: 192.0.2.10/24.
        ipaddress.ip_interface(text)
    except ValueError:
        raise mistake(
            f"{brief(text)} is not a range of IP addresses", "write for example 192.0.2.0/24"
        ) from None
    if "/" not in text:
        raise mistake(f"{brief(text)} has no prefix length", "write for example 192.0.2.0/24")
    return text


# Kept as written.
IpAddressText: TypeAlias = Annotated[str, AfterValidator(_check_address)]
IpRange: TypeAlias = Annotated[str, AfterValidator(_check_range)]
