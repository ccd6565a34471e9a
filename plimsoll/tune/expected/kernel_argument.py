"""One argument of the kernel's command line as an intent implies it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

# The makers whose processors the Node Tuning Operator has a profile of its own for.
Vendor = Literal["intel", "amd", "arm"]

# Each hugepages= counts the size of the hugepagesz= before it, and every console= is one.
_MANY = frozenset({"hugepagesz", "hugepages", "console"})


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """`values` are those any of which is right; None is a name that stands alone.

    More than one where it depends on what an intent does not say, such as the generation
    of the processor. `source` is what puts the argument there; not `required` is one that
    some releases of it put there and others do not.
    """

    name: str
    values: tuple[str | None, ...]
    source: str
    required: bool = True

    @property
    def text(self) -> str:
        """As on the command line; the values that are possible with a bar between them."""
        message = "|".join(value or "" for value in self.values)
        return f"{self.name}={message}" if self.values != (None,) else self.name

    @property
    def words(self) -> tuple[str, ...]:
        """As on the command line, with each of the values that are possible."""
        return tuple(self.name if each is None else f"{self.name}={each}" for each in self.values)


def arguments_of(text: str, source: str, *, required: bool = True) -> Iterator[KernelArgument]:
    """The arguments of a piece of command line, each with its one value."""
    for word in text.split():
        name, equals, value = word.partition("=")
        yield KernelArgument(name, (value if equals else None,), source, required)


def last_of_each(arguments: Iterable[KernelArgument]) -> tuple[KernelArgument, ...]:
    """Without those that a later one of the same name overrides, as the kernel reads them."""
    kept: list[KernelArgument] = []
    seen: set[str] = set()
    for each in reversed(list(arguments)):
        # The kernel takes "-" and "_" in names for the same.
        name = each.name.replace("-", "_")
        if name in seen and name not in _MANY:
            continue
        seen.add(name)
        kept.append(each)
    return tuple(reversed(kept))


def command_line(arguments: Iterable[KernelArgument]) -> str:
    """One line of them all, in brackets those that only some releases have."""
    return " ".join(each.text if each.required else f"[{each.text}]" for each in arguments)
