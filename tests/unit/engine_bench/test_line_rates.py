"""What a line carries, by the rates that everybody knows."""

import pytest

from engine.bench.line_rates import cores, line_mpps


@pytest.mark.parametrize(
    ("gbps", "size", "mpps"), [(10, 64, 14.88), (100, 64, 148.8), (10, 1518, 0.8127)]
)
def test_a_full_line(gbps: float, size: int, mpps: float) -> None:
    assert line_mpps(gbps, size) == pytest.approx(mpps, rel=1e-4)


def test_cores_are_whole_and_enough() -> None:
    assert cores(10, 64, core_mpps=14.9) == 1
    assert cores(10, 64, core_mpps=14.8) == 2
    assert cores(100, 64, core_mpps=50) == 3
