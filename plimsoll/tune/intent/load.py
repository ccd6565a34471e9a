"""Intents from files, and those that come with Plimsoll."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.traffic.document import load_document, parse_document
from plimsoll.traffic.mistakes import did_you_mean
from plimsoll.tune.intent.intent import Intent

_PRESETS = files("plimsoll.tune.intent") / "presets"
_SUFFIX = ".yaml"


def load_intent(wanted: Path | str) -> Intent:
    """The intent of a file, or of the preset of that name; a file is named with its suffix.

    Raises InputError naming file, line and field for everything that is wrong in it.
    """
    if isinstance(wanted, str) and wanted in preset_names():
        return load_preset(wanted)
    path = Path(wanted)
    if not path.exists() and not path.suffix and path.name == str(wanted):
        raise _no_preset(str(wanted))
    return load_document(path, Intent)


def preset_names() -> tuple[str, ...]:
    """The presets, by name."""
    names = (each.name for each in _PRESETS.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def load_preset(name: str) -> Intent:
    """The preset of that name; raises InputError for any other."""
    return parse_document(Path(f"{name}{_SUFFIX}"), preset_text(name)).validate(Intent)


def preset_text(name: str) -> str:
    """The preset as written, with its comments; raises InputError for an unknown name."""
    if name not in preset_names():
        raise _no_preset(name)
    return (_PRESETS / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def _no_preset(name: str) -> InputError:
    return InputError(
        f"no preset or file is {name!r}",
        where="intent",
        remedy=did_you_mean(name, preset_names()),
    )
