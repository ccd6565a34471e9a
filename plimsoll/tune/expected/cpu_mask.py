"""Masks of CPUs as TuneD writes them on the kernel's command line."""

from __future__ import annotations

from collections.abc import Collection

_DIGITS = 8


def tuned_cpu_mask(cpus: Collection[int]) -> str:
    """Groups of eight hexadecimal digits, all of them whole: {0, 33} is "00000002,00000001".

    TuneD's cpulist2hex pads the first group too, which the kernel's own files do not.
    """
    bits = sum(1 << cpu for cpu in set(cpus))
    digits = f"{bits:x}"
    digits = digits.zfill(-(-len(digits) // _DIGITS) * _DIGITS)
    return ",".join(digits[at : at + _DIGITS] for at in range(0, len(digits), _DIGITS))
