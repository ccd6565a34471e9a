"""The table of a matrix, as text."""

from rich.console import Console

from plimsoll.methods.matrix.command import matrix_table
from plimsoll.methods.matrix.result import IterationResult, MatrixResult, SampleResult

SIZE = "profile.streams[load].frame_size"


def _sample(number: int, pps: float | None, **why: str) -> SampleResult:
    return SampleResult(
        number=number,
        directory=f"iteration-0001/sample-{number}",
        load_line_pps=pps,
        limited_by=None,
        reason=why.get("reason"),
        error=why.get("error"),
    )


def _printed(*iterations: IterationResult) -> str:
    result = MatrixResult(
        run_id="r", name="sizes", order="sample", seed=0, iterations=iterations, versions={}
    )
    console = Console(width=160)
    with console.capture() as capture:
        console.print(matrix_table(result))
    return capture.get()


def test_rows_figures_and_what_is_common() -> None:
    text = _printed(
        IterationResult.of(1, {SIZE: 64, "lab.burst": 32}, [_sample(1, 900e3), _sample(2, 1100e3)]),
        IterationResult.of(
            2,
            {SIZE: 512, "lab.burst": 32},
            [_sample(1, None, error="[lab] died"), _sample(2, None, reason="no trial passed")],
        ),
    )
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines()]
    assert ["1", "64", "1 Mpps", "900 kpps", "1.1 Mpps", "20 %", "2 of 2"] in rows
    assert ["2", "512", "none", "", "", "", "0 of 2; [lab] died; no trial passed"] in rows
    assert "frame_size" in text
    assert "in all: lab.burst = 32" in text


def test_columns_are_distinguished() -> None:
    probe = SIZE.replace("load", "probe")
    text = _printed(
        IterationResult.of(1, {SIZE: 64, probe: 64}, [_sample(1, 1e6)]),
        IterationResult.of(2, {SIZE: 128, probe: 128}, [_sample(1, 1e6)]),
    )
    assert SIZE in text
    assert probe in text
    assert "in all" not in text
