from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.methods.method import PER_DIRECTION, Method, RunAnswer, RunOutcome, rate_text
from plimsoll.record.results.method_result import MethodResult


class Stair(RecordModel):
    load_pps: float = Field(description="Intended, in pps per direction.")
    lost: int = Field(description="Frames lost, in all directions.")


class StaircaseResult(MethodResult):
    method: Literal["staircase"] = "staircase"
    stairs: tuple[Stair, ...] = Field(description="The loads, from the lowest.")


def _outcome(result: StaircaseResult) -> RunOutcome:
    carried = [stair.load_pps for stair in result.stairs if not stair.lost]
    text = f"carries {rate_text(max(carried))}" if carried else "carries nothing"
    answer = RunAnswer(text, "load", max(carried, default=None), PER_DIRECTION)
    return RunOutcome(answer, "pass" if carried else "fail")


METHOD = Method(
    "staircase", "staircase", result=StaircaseResult, schema="staircase-result", outcome=_outcome
)
