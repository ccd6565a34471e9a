"""Bytes, bytes a second and Hertz as people write them, for pydantic models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from plimsoll.text.mistakes import brief, mistake

_WRITTEN = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z/]+)\s*", re.ASCII)
_BYTES = {
    "B": 1,
    **{f"{prefix}B": 1000 ** (n + 1) for n, prefix in enumerate(("k", "M", "G"))},
    **{f"{prefix}B": 1024 ** (n + 1) for n, prefix in enumerate(("Ki", "Mi", "Gi"))},
}
_BYTES_PER_S = {f"{unit}/s": factor for unit, factor in _BYTES.items()}
_HERTZ = {"Hz": 1, "kHz": 1000, "MHz": 1_000_000}


def _reader(units: Mapping[str, int], example: str) -> Callable[[object], int]:
    """A parser of whole numbers in the first of `units`."""

    def read(given: object) -> int:
        match = _WRITTEN.fullmatch(given) if isinstance(given, str) else None
        if match is None or match[2] not in units:
            known = ", ".join(units)
            raise mistake(f"found {brief(given)}", f"write it as in {example}; units are {known}")
        value = Decimal(match[1]) * units[match[2]]
        if value != int(value):
            raise mistake(f"{brief(given)} is not a whole number", f"write it as in {example}")
        return int(value)

    return read


_TEXT = WithJsonSchema({"type": "string"})

# In B/s, of text such as "2GB/s".
read_byte_rate = _reader(_BYTES_PER_S, "2GB/s")

ByteSizeField = Annotated[
    int,
    BeforeValidator(_reader(_BYTES, "64MiB")),
    PlainSerializer(lambda size: f"{size}B", return_type=str),
    _TEXT,
]
ByteRateField = Annotated[
    int,
    BeforeValidator(read_byte_rate),
    PlainSerializer(lambda rate: f"{rate}B/s", return_type=str),
    _TEXT,
]
FrequencyField = Annotated[
    int,
    BeforeValidator(_reader(_HERTZ, "10kHz")),
    PlainSerializer(lambda frequency: f"{frequency}Hz", return_type=str),
    _TEXT,
]
