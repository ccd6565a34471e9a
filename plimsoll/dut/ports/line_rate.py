"""The line rate as labs state it."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from plimsoll.text.mistakes import mistake
from plimsoll.text.units import Rate, RateField


def _in_bits(rate: Rate) -> Rate:
    if rate.unit != "l1_bps":
        raise mistake(f"{rate} is not a line rate", "write it in bits a second, for example 25Gbps")
    return rate


# L1, in bits a second.
LineRateField = Annotated[RateField, AfterValidator(_in_bits)]
