"""Files that are written for a while and closed with the block that holds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closeable(ABC):
    """Something to use in a `with`, which closes it."""

    @abstractmethod
    def close(self) -> None:
        """Stop writing; may be repeated."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()
