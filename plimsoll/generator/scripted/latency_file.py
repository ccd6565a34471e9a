"""Latencies that a program of the user's wrote to a file, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll.generator.interface import GeneratorDied


@dataclass(frozen=True, slots=True)
class LatencyFile:
    """One, what it has in words, and what helps where it cannot be read."""

    file: Path
    what: str
    remedy: str

    def lines(self, most_bytes: int) -> list[str]:
        """Its lines; the last one is empty where it ends as a file should.

        Raises GeneratorDied where it is not there or not ASCII. What is beyond `most_bytes` is
        cut off, but for a byte that shows it.
        """
        try:
            with self.file.open("rb") as opened:
                return opened.read(most_bytes + 1).decode("ascii").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise self.unread(str(error)) from error

    def unread(self, why: str) -> GeneratorDied:
        """The error that it is not what the program writes."""
        return GeneratorDied(
            f"{self.what} in {self.file.name} cannot be read: {why}",
            where="generator",
            remedy=self.remedy,
        )
