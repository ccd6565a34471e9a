"""The intent's hugepages: what the node sets aside, and what a pod takes of it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.tune.intent.fields.section import Listed, Section

# The sizes PerformanceProfile v2 takes.
PageSize = Literal["64k", "2M", "32M", "512M", "1G", "16G"]
PAGE_BYTES: dict[PageSize, int] = {
    "64k": 64 << 10,
    "2M": 2 << 20,
    "32M": 32 << 20,
    "512M": 512 << 20,
    "1G": 1 << 30,
    "16G": 16 << 30,
}
# By the page size of the kernel: x86-64 has 2M and 1G of the first, arm64 all (Linux,
# Documentation/mm/vmemmap_dedup; the Node Tuning Operator refuses others, commit d2394aa8,
# performanceprofile_validation.go).
SIZES_OF_KERNEL: dict[Literal["4k", "64k"], tuple[PageSize, ...]] = {
    "4k": ("64k", "2M", "32M", "1G"),
    "64k": ("2M", "512M", "16G"),
}
# As Kubernetes names the resource: hugepages-1Gi.
RESOURCE_SUFFIX: dict[PageSize, str] = {
    "64k": "64Ki",
    "2M": "2Mi",
    "32M": "32Mi",
    "512M": "512Mi",
    "1G": "1Gi",
    "16G": "16Gi",
}
_QUANTITY = re.compile(r"([1-9]\d{0,11})(Ki|Mi|Gi|Ti)?", re.ASCII)
_QUANTITY_BYTES = {None: 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}


# What Kubernetes' suffixes without an i are short of: 4G are 4,000,000,000 bytes.
_DECIMAL = {"k": "Ki", "K": "Ki", "M": "Mi", "G": "Gi", "T": "Ti"}


def bytes_of(quantity: str) -> int:
    """Bytes of a checked quantity of memory: "1000Mi"."""
    match = _QUANTITY.fullmatch(quantity)
    if match is None:
        raise ValueError(f"{quantity!r} is not a quantity of memory")
    return int(match[1]) * _QUANTITY_BYTES[match[2]]


def memory_text(size: int) -> str:
    """`size` bytes as Kubernetes writes memory, in the largest unit that has no fraction."""
    units = sorted(_QUANTITY_BYTES.items(), key=lambda each: -each[1])
    unit, factor = next((unit, factor) for unit, factor in units if size % factor == 0)
    return f"{size // factor}{unit or ''}"


def _check_quantity(text: str) -> str:
    if text[:-1].isdecimal() and text[-1:] in _DECIMAL:
        raise mistake(
            f"{brief(text)} is decimal to Kubernetes, and memory comes in powers of two",
            f"write {text[:-1]}{_DECIMAL[text[-1]]}",
        )
    if not _QUANTITY.fullmatch(text):
        raise mistake(
            f"{brief(text)} is not a quantity of memory", "write for example 1000Mi, 4Gi or 2Ti"
        )
    return text


# Memory as Kubernetes writes it, in whole Ki, Mi, Gi, Ti or bytes; kept as written.
Memory: TypeAlias = Annotated[str, AfterValidator(_check_quantity)]


class Pages(Section):
    """Pages of one size, on one NUMA node or spread over all."""

    size: PageSize
    """Size of a page; k, M and G are powers of two."""
    count: Annotated[int, Field(ge=1, le=2**31 - 1)]
    """How many pages of that size."""
    node: Annotated[int, Field(ge=0, le=1023)] | None = None
    """The NUMA node that they are on; left out, the kernel spreads them over all."""


class Hugepages(Section):
    """What the node sets aside at boot."""

    default_size: PageSize
    """Size of the pages that who names no size gets (default_hugepagesz); one of `pages`."""
    pages: Annotated[Listed[Pages], Field(min_length=1)]
    """How many pages of which size are set aside, each pair of size and node once."""

    @property
    def bytes_by_node(self) -> dict[int | None, int]:
        """Bytes set aside on each NUMA node; under None, those that name no node."""
        totals: dict[int | None, int] = {}
        for each in self.pages:
            totals[each.node] = totals.get(each.node, 0) + each.count * PAGE_BYTES[each.size]
        return totals

    @model_validator(mode="after")
    def _check_default_size(self) -> Self:
        """Else who asks for a page without naming its size asks an empty pool."""
        sizes = [each.size for each in self.pages]
        if self.default_size not in sizes:
            raise mistake(
                f"{self.default_size} is not among the sizes of pages",
                f"use {' or '.join(dict.fromkeys(sizes))}, or add pages of {self.default_size}",
                "default_size",
            )
        return self

    @model_validator(mode="after")
    def _check_once(self) -> Self:
        """The Node Tuning Operator's own rule."""
        seen: set[tuple[str, int | None]] = set()
        for place, each in enumerate(self.pages):
            if (each.size, each.node) in seen:
                on_node = "" if each.node is None else f" on node {each.node}"
                raise mistake(
                    f"pages of {each.size}{on_node} are given twice",
                    "give their number once",
                    "pages",
                    place,
                )
            seen.add((each.size, each.node))
        return self


def _in_powers_of_two(given: object) -> object:
    """4G of pages of 1G are four of them: no whole number of pages is decimal."""
    if isinstance(given, str) and given[:-1].isdecimal() and given[-1:] in _DECIMAL:
        return f"{given[:-1]}{_DECIMAL[given[-1]]}"
    return given


class PodHugepages(Section):
    """What one pod takes."""

    size: PageSize
    """Size of the pages that the pod asks for; k, M and G are powers of two."""
    total: Annotated[Memory, BeforeValidator(_in_powers_of_two)]
    """Memory in such pages, a whole number of them: 4Gi, or in short 4G, which is the same here."""

    @model_validator(mode="after")
    def _check_whole_pages(self) -> Self:
        if bytes_of(self.total) % PAGE_BYTES[self.size]:
            raise mistake(
                f"{self.total} is not a whole number of pages of {self.size}",
                f"give a multiple of {RESOURCE_SUFFIX[self.size]}",
                "total",
            )
        return self
