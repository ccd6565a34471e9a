"""Why nothing is rendered: all that is wrong with an intent, at once.

What goes into files that shells, GRUB and TuneD read must not be read as their language. TuneD
calls `${f:exec:...}` as root, GRUB's configuration is a shell's, and a kernel argument ends where
a blank does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.text.mistakes import brief
from plimsoll.tune.intent.intent import Intent


@dataclass(frozen=True, slots=True)
class Mistake:
    """`field` is the place in the intent, `remedy` what to change."""

    field: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text} ({self.remedy})"


def refuse(mistakes: Sequence[Mistake], where: str) -> None:
    """Raise one InputError for all of them; nothing where there are none."""
    if not mistakes:
        return
    if len(mistakes) == 1:
        (only,) = mistakes
        raise InputError(f"{only.field}: {only.text}", where=where, remedy=only.remedy)
    listing = "".join(f"\n  {each}" for each in mistakes)
    raise InputError(f"{len(mistakes)} mistakes:{listing}", where=where)


_ARGUMENT = re.compile(r"[A-Za-z0-9_.,:=+@%/\[\]-]+", re.ASCII)
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_SYSCTL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*", re.ASCII)
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
# A group of processes, a file of sysfs with its wildcards.
_SETTING = re.compile(r"[A-Za-z0-9/][A-Za-z0-9_./*:@-]*", re.ASCII)
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
    yield from _tuned(intent)


def _tuned(intent: Intent) -> Iterator[Mistake]:
    for place, profile in enumerate(intent.tuned.include):
        if not _PROFILE.fullmatch(profile):
            field = f"tuned.include[{place}]"
            yield Mistake(field, f"{brief(profile)} names no profile", "use its name alone")
    for section, options in intent.tuned.sections.items():
        if not _OPTION.fullmatch(section):
            field = brief(f"tuned.sections.{section}")
            yield Mistake(field, "is not a section name", "use its name alone")
        for name, value in options.items():
            yield from _option(f"tuned.sections.{section}.{name}", _SETTING, name, value)


def _option(field: str, names: re.Pattern[str], name: str, value: str) -> Iterator[Mistake]:
    if not names.fullmatch(name):
        yield Mistake(brief(field), "is not a setting name", "use its name alone")
    if _CALL.search(value):
        yield Mistake(field, f"{brief(value)} calls a function of TuneD", "write the value itself")
