"""What keeps a record from arriving where it is sent."""

from __future__ import annotations

from plimsoll.errors import PlimsollError


class ExportError(PlimsollError):
    """The other side did not take it; the record here is unharmed."""

    exit_code = 6
