"""Pacing as people write it."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.traffic.plan import Pacing
from plimsoll.traffic.streams.pacing import PacingField
from tests.worded.says import Says

_PACING: TypeAdapter[Any] = TypeAdapter(PacingField)


@pytest.mark.parametrize(
    ("written", "pacing"),
    [
        ("constant", Pacing()),
        ({"burst": 32}, Pacing("burst", burst_frames=32)),
        ("poisson", Pacing("poisson")),
        ("captured", Pacing("captured")),
        ({"poisson": {"seed": 7}}, Pacing("poisson", seed=7)),
        ("back-to-back", Pacing("back-to-back")),
        ("one-in-flight", Pacing("one-in-flight", timeout_us=100_000)),
        ({"one-in-flight": {"timeout": "250us"}}, Pacing("one-in-flight", timeout_us=250)),
    ],
)
def test_pacing_is_read_and_written_back(written: object, pacing: Pacing) -> None:
    read = _PACING.validate_python(written)
    assert read == pacing
    assert _PACING.validate_python(_PACING.dump_python(read, mode="json")) == pacing


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ("poison", ("poison", "{burst", "32}")),
        ("burst", ("burst", "{burst", "32}")),
        ({"bursts": 32}, ("bursts",)),
        ({"captured": 3}, ("captured",)),
        ({"constant": 3}, ("constant",)),
        ({"burst": 0}, ("burst", "0", "1", "65536")),
        ({"burst": True}, ("burst",)),
        ({"burst": "many"}, ("many", "burst")),
        ({"poisson": 7}, ("7",)),
        ({"poisson": {"seed": -1}}, ("seed", "-1", "0")),
        ({"one-in-flight": {"time": "1s"}}, ("time", "1s")),
        ({"one-in-flight": {"timeout": "1 moon"}}, ("1 moon", "timeout", "250ms")),
        ({"one-in-flight": {"timeout": "1h"}}, ("1h", "timeout", "1us", "10s")),
        ({"burst": 2, "poisson": {}}, ("burst", "poisson", "2", "{burst")),
        (7, ("7",)),
    ],
)
def test_what_is_no_pacing_is_refused(written: object, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(ValidationError) as caught:
        _PACING.validate_python(written)
    assert caught.value.error_count() == 1
    assert caught.value == says(*facts)
