"""A file of one number that only grows, as sysfs has many."""

from __future__ import annotations

from pathlib import Path

from plimsoll.observe.reading.host_files import RereadFile
from plimsoll.observe.reading.readings import Readings


class CounterFile:
    """Such a file, held open, and the series that it feeds."""

    def __init__(self, path: Path, series: int) -> None:
        """Open it. Raises OSError where it is not there or may not be read."""
        self._file = RereadFile(path)
        self._series = series
        self._content = b""

    def read(self, readings: Readings) -> bool:
        """Tell where it stands if that has changed, and say whether it has.

        Raises OSError when what it tells of has gone, and ValueError where it holds no number.
        """
        content = self._file.read()
        if content == self._content:
            return False
        self._content = content
        readings.total(self._series, int(content))
        return True

    def absent(self, readings: Readings) -> None:
        """Tell that it has gone."""
        readings.absent(self._series)
