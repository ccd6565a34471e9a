"""Files of what may go while a trial runs, such as cgroups."""

from __future__ import annotations

from typing import Protocol

from plimsoll.observe.reading.readings import Readings


class PassingFile(Protocol):
    """One of them, with the series that are read from it."""

    def read(self, readings: Readings) -> None:
        """Tell what has changed. Raises OSError once it has gone."""

    def absent(self, readings: Readings) -> None:
        """Tell that its series have gone."""


def read_present(files: list[PassingFile], readings: Readings) -> None:
    """Read each; what has gone is set absent and taken off the list."""
    for file in tuple(files):
        try:
            file.read(readings)
        except OSError:
            files.remove(file)
            file.absent(readings)
