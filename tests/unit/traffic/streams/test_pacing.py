"""Pacing as people write it."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.traffic.plan import Pacing
from plimsoll.traffic.streams.pacing import PacingField

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
    ("written", "problem", "remedy"),
    [
        ("poison", "'poison' is not a pacing", "write constant, {burst: 32}, poisson"),
        ("burst", "'burst' is not a pacing", "{burst: 32}"),
        ({"bursts": 32}, "'bursts' is not a pacing with options", "did you mean burst?"),
        ({"captured": 3}, "'captured' is not a pacing with options", "one-in-flight"),
        ({"constant": 3}, "'constant' is not a pacing with options", "one-in-flight"),
        ({"burst": 0}, "burst: found 0", "from 1 to 65536"),
        ({"burst": True}, "burst: found True", "whole number"),
        ({"burst": "many"}, "burst: found 'many'", "whole number"),
        ({"poisson": 7}, "found 7", "give seed"),
        ({"poisson": {"seed": -1}}, "seed: found -1", "from 0"),
        ({"one-in-flight": {"time": "1s"}}, "found {'time': '1s'}", "give timeout"),
        ({"one-in-flight": {"timeout": "1 moon"}}, "timeout: '1 moon'", "250ms"),
        ({"one-in-flight": {"timeout": "1h"}}, "timeout: found '1h'", "from 1us to 10s"),
        ({"burst": 2, "poisson": {}}, "is not a pacing", "write constant"),
        (7, "7 is not a pacing", "write constant"),
    ],
)
def test_what_is_no_pacing_is_refused(written: object, problem: str, remedy: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _PACING.validate_python(written)
    (error,) = caught.value.errors()
    assert problem in error["msg"]
    assert remedy in error["ctx"]["remedy"]
