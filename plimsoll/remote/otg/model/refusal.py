"""OTG's own error, and what becomes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from plimsoll.errors import PlimsollError

RefusalKind = Literal["validation", "internal"]


class Refusal(Exception):
    """Why a request is not carried out, as OTG's `Error`: its kind and one or more texts."""

    def __init__(self, *errors: str, kind: RefusalKind = "validation") -> None:
        super().__init__("; ".join(errors))
        self.errors = errors
        self.kind = kind


def refused(path: str, message: str, remedy: str = "") -> Refusal:
    """A validation error at a field's path."""
    return Refusal(f"{path}: {message}" + (f" ({remedy})" if remedy else ""))


@contextmanager
def placed_at(path: str) -> Iterator[None]:
    """What Plimsoll refuses in here is refused at that path."""
    try:
        yield
    except PlimsollError as error:
        raise refused(path, error.message, error.remedy) from None


class Abandonable(Protocol):
    """A part of a request that can be read no further."""

    def abandon(self) -> None:
        """What was not read of it is not known to be wrong."""


@dataclass
class Refusals:
    """Those of several parts of a request, which are then reported together."""

    errors: list[str] = field(default_factory=list)

    @contextmanager
    def collecting(self, *reading: Abandonable) -> Iterator[None]:
        """What is refused in here is remembered, and that these parts were read no further."""
        try:
            yield
        except Refusal as refusal:
            if refusal.kind != "validation":
                raise
            self.errors += refusal.errors
            for part in reading:
                part.abandon()

    def add(self, errors: Sequence[str]) -> None:
        """Texts of further mistakes."""
        self.errors += errors

    def check(self) -> None:
        """Raise Refusal where there is any."""
        if self.errors:
            raise Refusal(*self.errors)
