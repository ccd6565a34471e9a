"""Rates, durations, ratios and latencies as people write them."""

import math
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from plimsoll.errors import InputError
from plimsoll.text.units import (
    WRITTEN,
    DurationField,
    LatencyField,
    PpsField,
    Rate,
    RateField,
    RateUnit,
    RatioField,
    format_duration,
    format_ns,
    format_pps,
    format_ratio,
    parse_duration,
    parse_latency_ns,
    parse_rate,
    parse_ratio,
)
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("500kpps", 500_000, "pps"),
        ("2.5 Mpps", 2_500_000, "pps"),
        ("14.88mpps", 14_880_000, "pps"),
        (1000, 1000, "pps"),
        (0.5, 0.5, "pps"),
        ("1e6pps", 1e6, "pps"),
        ("10Gbps", 10e9, "l1_bps"),
        ("10 Gbps-l1", 10e9, "l1_bps"),
        ("5Gbps-l2", 5e9, "l2_bps"),
        ("800bps", 800, "l1_bps"),
        ("60%", 60, "percent"),
        ("60 %", 60, "percent"),
        ("1.5x", 1.5, "multiplier"),
    ],
)
def test_rates_are_read(text: object, value: float, unit: RateUnit) -> None:
    assert parse_rate(text) == Rate(value, unit)


@pytest.mark.parametrize(
    ("given_rate", "facts"),
    [
        ("0pps", ()),
        ("500", ()),
        (0, ()),
        ("-5kpps", ()),
        ("10 parsecs", ("parsecs",)),
        ("10kx", ("kx",)),
        ("fast", ("fast",)),
        ("٥kpps", ()),  # noqa: RUF001 - Arabic digits are meant
        ("", ()),
        (True, ()),
        (None, ()),
        (float("nan"), ()),
        (float("inf"), ()),
        ("1e999 pps", ()),
        ("1e9999999999 pps", ()),
    ],
)
def test_a_bad_rate_is_an_error_with_a_remedy(
    given_rate: object, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_rate(given_rate)
    assert caught.value == says(*facts)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("1MBps", ("8Mbps",)),
        ("1.25 GBps", ("10Gbps",)),
        ("100kB/s", ("800kbps",)),
        ("5GBps-l2", ("40Gbps-l2",)),
        ("10GBPS", ("80Gbps",)),
        ("7Bps", ("56bps",)),
    ],
)
def test_bytes_a_second_are_not_taken_for_bits(
    written: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_rate(written)
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    ("rate", "frame_size", "pps"),
    [
        # Line rates at 64 and 1518 bytes, as RFC 2544 testers know them by heart.
        ("10Gbps", 64, 14_880_952.38),
        ("10Gbps", 1518, 812_743.82),
        ("100%", 64, 14_880_952.38),
        ("60%", 64, 8_928_571.43),
        # 60 bytes without FCS are 480 bits.
        ("4.8Mbps-l2", 64, 10_000),
        ("1.5x", 64, 3_000),
        ("7kpps", 64, 7_000),
    ],
)
def test_rates_become_frames_per_second(rate: str, frame_size: int, pps: float) -> None:
    found = parse_rate(rate).to_pps(frame_size, line_rate_bps=10e9, profile_pps=2_000)
    assert found == pytest.approx(pps, rel=1e-8)


def test_a_percentage_needs_a_line_rate(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_rate("60%").to_pps(64, None, None)
    assert caught.value == says("60%")


def test_a_multiplier_needs_a_profile_with_a_rate(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_rate("2x").to_pps(64, 10e9, None)
    assert caught.value == says("2x")
    assert "pps" in caught.value.remedy


@given(
    st.floats(min_value=1e-6, max_value=1e15),
    st.sampled_from(["pps", "l1_bps", "l2_bps", "percent", "multiplier"]),
)
def test_a_rate_written_is_read_back(value: float, unit: RateUnit) -> None:
    assert parse_rate(str(Rate(value, unit))) == Rate(value, unit)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3s", 3),
        ("2h", 7200),
        ("250ms", 0.25),
        ("1m30s", 90),
        ("1h 2m 3.5s", 3723.5),
        ("5min", 300),
        ("1d", 86400),
        ("20us", 20e-6),
        # U+00B5 and U+03BC.
        ("20\u00b5s", 20e-6),
        ("20\u03bcs", 20e-6),
        (10, 10),
        ("0.5s", 0.5),
    ],
)
def test_durations_are_read(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("given_duration", "facts"),
    [
        ("0s", ("0s",)),
        (-1, ("-1",)),
        ("-3s", ("-3s", "250ms", "1m30s", "2h")),
        ("3 fortnights", ("fortnights",)),
        # Mega, months or minutes; megaseconds.
        ("1M", ("M",)),
        ("1Ms", ("Ms",)),
        ("3s and a bit", ("3s and a bit", "250ms", "1m30s", "2h")),
        ("soon", ("soon", "250ms", "3s", "1m30s")),
        ("５s", ()),  # noqa: RUF001 - a wide digit is meant
        (True, ("250ms", "3s", "1m30s", "2h")),
    ],
)
def test_a_bad_duration_is_an_error_with_a_remedy(
    given_duration: object, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_duration(given_duration)
    assert caught.value == says(*facts)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "ratio"), [("0.002%", 2e-5), (2e-5, 2e-5), ("5 %", 0.05), (0, 0.0), ("100%", 1.0)]
)
def test_ratios_are_read_exactly(text: object, ratio: float) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize(
    ("parse", "written", "facts"),
    [
        (parse_ratio, "0.002", ("0.002%", "2e-3")),
        (parse_ratio, " 0.5", ("0.5%", "5e-1")),
        (parse_duration, "10", ("10s",)),
        (parse_rate, "6000000", ("6000000pps",)),
    ],
)
def test_text_without_a_unit_is_refused_with_what_to_write(
    parse: Callable[[object], object], written: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse(written)
    assert caught.value == says(*facts)


class Quantities(BaseModel):
    rate: RateField = Rate(1.0, "pps")
    probes: PpsField = 1000.0
    length: DurationField = 1.5
    share: RatioField = 0.05


@pytest.mark.parametrize(
    ("field", "written", "said"),
    [
        ("rate", 6_000_000, "write 6000000pps"),
        ("probes", 1000, "write 1000pps"),
        ("length", 10, "write 10s"),
        ("length", 0.5, "write 0.5s"),
        # bench-trafficgen's --max-loss-pct 0.002 is per cent.
        ("share", 0.002, "write 0.002% or 2e-3"),
        ("share", 0.5, "write 0.5% or 5e-1"),
    ],
)
def test_numbers_that_people_write_need_units(field: str, written: object, said: str) -> None:
    # What Plimsoll wrote itself is in pps, seconds and shares.
    Quantities.model_validate({field: written})
    with pytest.raises(ValidationError) as caught:
        Quantities.model_validate({field: written}, context=WRITTEN)
    (error,) = caught.value.errors()
    assert error["ctx"]["remedy"].startswith(said)


@pytest.mark.parametrize("field", ["rate", "probes", "length", "share"])
@pytest.mark.parametrize("written", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused_with_a_remedy(field: str, written: float) -> None:
    """As YAML has .nan and .inf."""
    with pytest.raises(ValidationError) as caught:
        Quantities.model_validate({field: written}, context=WRITTEN)
    (error,) = caught.value.errors()
    assert error["ctx"]["remedy"]


@pytest.mark.parametrize("share", [0, 1, 2e-05, "0", "1", "2e-5", "0.002%"])
def test_ratios_that_can_mean_one_thing_only(share: object) -> None:
    Quantities.model_validate({"share": share}, context=WRITTEN)


@given(
    st.floats(min_value=1e-9, max_value=1e7),
    st.floats(min_value=1e-9, max_value=1),
    st.floats(min_value=1e-3, max_value=1e9),
)
def test_what_is_written_with_units_reads_back_exactly(
    length: float, share: float, probes: float
) -> None:
    made = Quantities(length=length, share=share, probes=probes)
    written = made.model_dump(mode="json", context=WRITTEN)
    assert all(isinstance(value, str) for value in written.values())
    assert Quantities.model_validate(written, context=WRITTEN) == made


@pytest.mark.parametrize("given_ratio", ["101%", -0.1, "2", "half", "5‰", [0.1]])
def test_a_bad_ratio_is_an_error_with_a_remedy(given_ratio: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_ratio(given_ratio)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "latency_ns"),
    [
        ("500us", 500_000),
        ("500\u00b5s", 500_000),
        ("500\u03bcs", 500_000),
        ("2ms", 2_000_000),
        ("7ns", 7),
    ],
)
def test_latencies_are_read(text: str, latency_ns: int) -> None:
    assert parse_latency_ns(text) == latency_ns


@pytest.mark.parametrize(
    ("given_latency", "facts"),
    [
        (500, ("500", "500us", "2ms")),
        ("0us", ("1ns",)),
        ("500", ("500", "500us", "2ms")),
        ("5 hops", ("5 hops", "500us", "2ms")),
        *((f"5{unit}", (f"5{unit}", unit)) for unit in "Mmhd"),
    ],
)
def test_a_bad_latency_is_an_error_with_a_remedy(
    given_latency: object, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        parse_latency_ns(given_latency)
    assert caught.value == says(*facts)
    assert caught.value.remedy


class _Settings(BaseModel):
    rate: RateField
    duration: DurationField
    ratio: RatioField
    latency: LatencyField


@given(
    st.floats(min_value=1e-3, max_value=1e12),
    st.floats(min_value=1e-9, max_value=1e9),
    st.floats(min_value=0, max_value=1),
    st.integers(min_value=1, max_value=2**37),
)
def test_settings_survive_being_written_and_read(
    rate_pps: float, duration_s: float, ratio: float, latency_ns: int
) -> None:
    given_settings = {
        "rate": rate_pps,
        "duration": duration_s,
        "ratio": ratio,
        "latency": f"{latency_ns}ns",
    }
    settings = _Settings.model_validate(given_settings)
    assert (settings.rate.value, settings.duration) == (rate_pps, duration_s)
    assert (settings.ratio, settings.latency) == (ratio, latency_ns)
    assert _Settings.model_validate(settings.model_dump(mode="json")) == settings


@given(st.one_of(st.text(max_size=40), st.floats(), st.integers(), st.none()))
def test_parsers_only_ever_raise_input_errors(given_value: object) -> None:
    for parse in (parse_rate, parse_duration, parse_ratio, parse_latency_ns):
        with suppress(InputError):
            parse(given_value)


def test_fields_have_a_json_schema() -> None:
    schema = TypeAdapter(RateField).json_schema()
    assert schema["type"] == ["string", "number"]


def test_numbers_are_shown_to_people() -> None:
    assert format_pps(500_000) == "500 kpps"
    assert format_pps(14_880_952) == "14.88 Mpps"
    assert format_pps(999_999) == "1 Mpps"
    assert format_pps(12.5) == "12.5 pps"
    assert format_ns(12_400) == "12.4 µs"
    assert format_ns(850) == "850 ns"
    assert format_ns(2.5e9) == "2.5 s"
    assert format_ratio(2e-5) == "0.002 %"
    assert [format_duration(s) for s in (0.25, 2.5, 59.96, 90, 3720)] == [
        "250ms",
        "2.5s",
        "1m00s",
        "1m30s",
        "1h02m",
    ]


@pytest.mark.parametrize(
    ("written", "facts"),
    [("abc", ("abc",)), ("3Gbps", ("3Gbps",))],
)
def test_a_field_in_frames_a_second_says_what_it_is_not(
    written: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(PpsField).validate_python(written)
    assert caught.value == says(*facts)


@pytest.mark.parametrize(("written", "pps"), [("1Mpps", 1e6), (250, 250.0), ("2.5kpps", 2500.0)])
def test_a_field_in_frames_a_second_is_a_number(written: object, pps: float) -> None:
    assert TypeAdapter(PpsField).validate_python(written) == pps
