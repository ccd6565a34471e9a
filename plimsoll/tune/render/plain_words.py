"""What goes into files that shells, GRUB and TuneD read must not be read as their language.

TuneD calls `${f:exec:...}` as root, GRUB's configuration is a shell's, and a kernel argument
ends where a blank does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.traffic.mistakes import brief
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.refusal import Mistake

_ARGUMENT = re.compile(r"[A-Za-z0-9_.,:=+@%/\[\]-]+", re.ASCII)
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_SYSCTL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*", re.ASCII)
# Variables are TuneD's to fill in; functions, whose names end with a colon, are commands.
_CALL = re.compile(r"\$\{[^}]*:")


def check_plain_words(intent: Intent) -> Iterator[Mistake]:
    """Arguments of the kernel, options of TuneD and sysctls that are more than that."""
    for place, argument in enumerate(intent.kernel.arguments):
        if not _ARGUMENT.fullmatch(argument):
            yield Mistake(
                f"kernel.arguments[{place}]",
                f"{brief(argument)} has characters that a shell or TuneD would act on",
                "use letters, digits and _ . , : = + @ % / [ ] -",
            )
    for name, value in intent.kernel.tuned_bootloader.items():
        yield from _option(f"kernel.tuned_bootloader.{name}", _OPTION, name, value)
    for name, value in intent.scheduling.sysctls.items():
        yield from _option(f"scheduling.sysctls.{name}", _SYSCTL, name, value)


def _option(field: str, names: re.Pattern[str], name: str, value: str) -> Iterator[Mistake]:
    if not names.fullmatch(name):
        yield Mistake(brief(field), "is no name of a setting", "use its name alone")
    if _CALL.search(value):
        yield Mistake(field, f"{brief(value)} calls a function of TuneD", "write the value itself")
