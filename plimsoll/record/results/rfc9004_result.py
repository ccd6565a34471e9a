"""The result of an RFC 9004 run: back-to-back bursts and the buffer that they tell of.

Its JSON Schema is published as docs/schemas/rfc9004-result.schema.json. Rates and frames are
per direction.
"""

from __future__ import annotations

from typing import Literal

from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.results.rfc2544_result import BackToBackRow, MeasuredRow, ThroughputRow
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.whole_verdict import whole_verdict

# The journal's event that a row is known: `row`. A run tells it as it goes on.
ROW = "rfc9004-row"


class BufferRow(MeasuredRow):
    """One frame size; `bursts` is null where it was not tested, and `reason` says why.

    `implied_s` is the average burst ÷ the maximum frame rate, `corrected_s` that without
    what the DUT forwarded in that time (section 6.4). Not `valid` are bursts near the limit:
    the test has to be repeated with longer ones.
    """

    throughput: ThroughputRow
    bursts: BackToBackRow | None
    implied_s: float | None
    corrected_s: float | None
    valid: bool
    reason: str | None


class Rfc9004Result(MethodResult):
    """`repetitions` is the N of section 6.3, of every size."""

    method: Literal["rfc9004"] = "rfc9004"
    traffic: str
    media: str
    directions: int
    repetitions: int
    rows: tuple[BufferRow, ...]

    @property
    def verdict(self) -> Verdict:
        """As of its rows; invalid, too, where no row says anything of the DUT's buffers."""
        verdict = whole_verdict(row.verdict for row in self.rows)
        known = any(row.valid for row in self.rows)
        return verdict if known or verdict != "none" else "invalid"
