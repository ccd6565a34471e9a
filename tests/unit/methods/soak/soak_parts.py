"""Windows, segments and series of soaks that no generator has run."""

from collections.abc import Sequence

from plimsoll.methods.soak.result import SoakSegment
from plimsoll.methods.soak.series import SeriesStretch, SoakSeries
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.window_record import WindowRecord, WindowVerdict
from plimsoll.search.evidence.trial_evidence import LossSample

BEGIN_NS = 1_773_480_413 * 10**9


def window(
    index: int,
    verdict: WindowVerdict = "pass",
    *,
    trial: int = 1,
    losses: Sequence[tuple[float, float, int]] = (),
    length_s: float = 60.0,
) -> WindowRecord:
    """The window `index` of a minute each; `losses` are (begin, end, frames)."""
    return WindowRecord(
        trial=trial,
        index=index,
        begin_s=(index - 1) * 60.0,
        end_s=(index - 1) * 60.0 + length_s,
        sending_s=length_s,
        begin_unix_ns=BEGIN_NS + (index - 1) * 60 * 10**9,
        verdict=verdict,
        reasons=(),
        streams=(),
        lost=sum(frames for _, _, frames in losses),
        loss_events=len(losses),
        losses=tuple(LossSample(begin_s=b, end_s=e, frames=f) for b, e, f in losses),
        stalls=2,
        worst_stall_ns=1000 * index,
        stalled_share=0.001 * index,
    )


def segment(
    trial: int = 1,
    verdict: Verdict = "pass",
    *,
    begin_s: float = 0.0,
    sending_s: float = 120.0,
    gap_s: float = 0.0,
    reasons: tuple[FindingRecord, ...] = (),
) -> SoakSegment:
    return SoakSegment(
        trial=trial,
        begin_unix_ns=BEGIN_NS + round(begin_s * 1e9),
        gap_s=gap_s,
        sending_s=sending_s,
        windows=2,
        verdict=verdict,
        reasons=reasons,
        streams=(),
    )


def series(kind: str, of: str, values: Sequence[float], *, width_s: float = 60.0) -> SoakSeries:
    return SoakSeries(
        kind,
        of,
        tuple(
            SeriesStretch(1, (n + 0.5) * width_s, value, value, value, round(width_s))
            for n, value in enumerate(values)
        ),
    )
