"""The settings of an RFC 9004 run."""

from __future__ import annotations

from typing import Self

from plimsoll.methods.rfc2544.settings import (
    QUICK_BURSTS,
    QUICK_THROUGHPUT,
    BurstSettings,
    FrameTestSettings,
)

# A burst that lost frames is sent once more: an interruption of the DUT's host may have
# been at fault, which has nothing to do with the size of its buffers (sections 4 and 6.2).
_VERIFICATIONS = 1


class Rfc9004Settings(FrameTestSettings):
    """Throughput first, then bursts of each size that may fill a buffer; never of mixes."""

    bursts: BurstSettings = BurstSettings(verifications=_VERIFICATIONS)

    @classmethod
    def quickly(cls) -> Self:
        """Durations for demos and CI, which fall short of the standard's; results say so."""
        return cls(
            quick=True,
            residual_s=0.0,
            settle_s=0.0,
            throughput=QUICK_THROUGHPUT,
            bursts=QUICK_BURSTS.model_copy(update={"verifications": _VERIFICATIONS}),
        )
