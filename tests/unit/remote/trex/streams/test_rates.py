"""Rates and multipliers, worked out by hand for 64-byte frames: 672 bits of layer 1, 512 of 2."""

import pytest

from plimsoll.errors import InputError
from plimsoll.remote.trex.streams.stl_stream import StlRate
from plimsoll.remote.trex.streams.timeline import Bandwidth, Multiplier, ProfileBandwidth, rate_pps
from tests.worded.says import Says

LINE = 10e9
# 1 Mpps that is multiplied, and 1000 pps of latency, which is not.
PROFILE = ProfileBandwidth(
    Bandwidth.of([(600_000.0, 60), (400_000.0, 60)]), Bandwidth.of([(1000.0, 60)]), LINE
)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("pps", 1234.5, 1234.5),
        ("bps_L2", 512e6, 1e6),
        ("bps_L1", 672e6, 1e6),
        ("percentage", 10.0, 1e9 / 672),
    ],
)
def test_rates_of_streams(kind: str, value: float, expected: float) -> None:
    rate = StlRate.model_validate({"type": kind, "value": value})
    assert rate_pps(rate, 60, LINE) == pytest.approx(expected)


def factor(
    kind: str, value: float, op: str = "abs", now: float = 2.0, *, force: bool = False
) -> float:
    multiplier = Multiplier.model_validate({"type": kind, "value": value, "op": op})
    return PROFILE.factor(multiplier, now, force=force)


def test_a_profiles_bandwidth() -> None:
    assert PROFILE.varied == Bandwidth(1e6, 512e6, 672e6)
    assert PROFILE.l1_bps(2) == 2 * 672e6 + 672e3


@pytest.mark.parametrize(
    ("kind", "value", "op", "expected"),
    [
        ("raw", 3.0, "abs", 3.0),
        ("pps", 2_001_000.0, "abs", 2.0),
        ("bps", 512_512_000.0, "abs", 1.0),
        ("bpsl1", 672_672_000.0, "abs", 1.0),
        ("percentage", 50.0, "abs", (5e9 - 672e3) / 672e6),
        ("raw", 1.0, "add", 3.0),
        ("raw", 0.5, "sub", 1.5),
        # Of the rate that it has.
        ("percentage", 10.0, "add", 2.2),
        ("percentage", 10.0, "sub", 1.8),
    ],
)
def test_multipliers(kind: str, value: float, op: str, expected: float) -> None:
    assert factor(kind, value, op) == pytest.approx(expected)


def test_what_is_above_the_line_rate_needs_force(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        factor("raw", 15.0)
    assert caught.value == says("10 Gbps")
    assert factor("raw", 15.0, force=True) == 15.0


@pytest.mark.parametrize(
    ("kind", "value", "op", "facts"),
    [
        ("pps", 500.0, "abs", ("1000", "pps")),
        ("raw", 0.0, "abs", ("0",)),
        ("raw", 2.0, "sub", ()),
    ],
)
def test_multipliers_that_leave_nothing(
    kind: str, value: float, op: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        factor(kind, value, op)
    assert caught.value == says(*facts)
