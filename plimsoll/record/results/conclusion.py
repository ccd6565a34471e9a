"""What a comparison of two samples of a figure says, and what would tell where it says nothing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel

ConclusionKind = Literal["better", "worse", "same", "cannot tell"]
# What the interval alone says, as older records have it.
FigureJudgement = Literal["better", "worse", "no difference seen", "cannot tell"]
# values: one of the two has none; repetitions: the interval is missing or too wide; reach: values
# that the tester or the search's maximum limits are lower bounds, so the load must go higher.
Need = Literal["values", "repetitions", "reach"]


class Conclusion(RecordModel):
    """Better, worse, the same within a share, or "cannot tell" with what is needed to tell.

    It goes by the 95 % interval, in which a load line limited by the tester or the search's
    maximum counts as a lower bound. `same` takes the whole interval, also one without zero.
    """

    kind: ConclusionKind = Field(
        description="better or worse: the interval leaves out zero; same: all of it is inside "
        "±`within`; cannot tell: neither."
    )
    within: float = Field(
        description="The share of the first sample that counts as no difference: the run's "
        "search.width, else 0.01."
    )
    share: float | None = Field(
        description="The difference as a share of the first sample, the median of all pairwise "
        "ratios less one; null where a value is not positive."
    )
    least_share: float | None = Field(
        description="Lower end of the share's exact 95 % interval, never below -1; null without "
        "an interval."
    )
    most_share: float | None = Field(
        description="Upper end of the share's exact 95 % interval; null without an interval."
    )
    needs: Need | None = Field(
        description="What a conclusion needs: values, repetitions, or reach (a tester or a "
        "search.maximum that goes higher); null if the conclusion is known."
    )
    repetitions: int | None = Field(
        description="About how many repetitions of each side a conclusion needs; null if the "
        "conclusion is known, or if no sensible number would do."
    )
