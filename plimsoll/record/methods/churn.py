"""`plimsoll churn`: streams over several networks while a cluster is churned."""

from __future__ import annotations

from plimsoll.record.methods.churn_figures import churn_figures
from plimsoll.record.methods.method import Method
from plimsoll.record.methods.run_outcome import RunAnswer, RunOutcome
from plimsoll.record.results.churn_result import ChurnResult


def _outcome(result: ChurnResult) -> RunOutcome:
    kept = [(cell.streams.kept, cell) for cell in result.cells if cell.streams and cell.percent]
    if not kept:
        text = f"{len(result.cells)} cells, no streams under churn"
        return RunOutcome(RunAnswer(text, "throughput kept", None, "%"), result.verdict)
    share, cell = min(kept, key=lambda each: each[0])
    percent = 100 * share
    text = f"{percent:.1f} % of the throughput kept at worst ({cell.label})"
    return RunOutcome(RunAnswer(text, "throughput kept", percent, "%"), result.verdict)


CHURN = Method(
    "churn",
    command="churn",
    result=ChurnResult,
    schema="churn-result",
    outcome=_outcome,
    figures=churn_figures,
)
