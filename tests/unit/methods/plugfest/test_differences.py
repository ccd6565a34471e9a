"""Cells of a plugfest held against each other."""

from statistics import median

import pytest

from plimsoll.methods.matrix.result import SampleResult
from plimsoll.methods.plugfest.conclusions import differences
from plimsoll.methods.plugfest.result import MeasuredFigure, PlugfestCell

# Four of each are the fewest for an interval.
SAME = (1e6, 1e6, 1e6, 1e6)


def cell(number: int, dut: str, loads_pps: tuple[float | None, ...]) -> PlugfestCell:
    """`None` stands for a repetition in which the DUT failed at every load."""
    values = tuple(each for each in loads_pps if each is not None)
    return PlugfestCell(
        number=number,
        dut=dut,
        chain="p2p",
        flows=1,
        frame_size="64",
        noise="",
        generator="",
        state="measured",
        reason=None,
        settled=False,
        figures=(
            MeasuredFigure(
                name="load line",
                unit="pps",
                better="higher",
                values=values,
                median=median(values),
                least=None,
                most=None,
            ),
        ),
        samples=tuple(
            SampleResult(
                number=at,
                directory=f"iteration-{number}/sample-{at}",
                load_line_pps=pps,
                limited_by=None if pps is None else "dut",
                reason="no load passed" if pps is None else None,
                error=None,
                verdict="fail" if pps is None else "pass",
            )
            for at, pps in enumerate(loads_pps, 1)
        ),
    )


@pytest.mark.parametrize(
    ("loads_pps", "kind"),
    [(SAME, "same"), ((2e6, 2e6, 2e6, 2e6), "better"), ((*SAME, None, None), "cannot tell")],
)
def test_repetitions_that_carried_nothing_are_not_left_out(
    loads_pps: tuple[float | None, ...], kind: str
) -> None:
    (found,) = differences([cell(1, "bridge", SAME), cell(2, "ovs", loads_pps)], "bridge", 0.01)
    assert found.conclusion is not None
    assert found.conclusion.kind == kind
