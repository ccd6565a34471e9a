"""Numbers that tell each trial's frames from those of all others."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

_MARKS = 0xFFFE


@dataclass
class TrialMarks:
    """From 1 to 65534, starting anywhere, so that other runs' frames are distinguished too."""

    next: int = field(default_factory=lambda: secrets.randbelow(_MARKS))

    def take(self) -> int:
        """A mark that no trial of the last 65534 had."""
        self.next = self.next % _MARKS + 1
        return self.next
