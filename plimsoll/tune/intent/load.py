"""Intents from files, and those that come with Plimsoll.

`make docs` publishes the JSON Schema of the intent, for editors and other tools.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.host.entry.entry_point import enter
from plimsoll.text.document import Document, parse_document, read_document
from plimsoll.text.mistakes import did_you_mean
from plimsoll.tune.intent.intent import Intent

_PRESETS = files("plimsoll.tune.intent") / "presets"
_SUFFIX = ".yaml"
# A hundred ports, networks and pods of ten lines each are 60 KiB.
_MAX_KIB = 256


def load_intent(expected: Path | str) -> Intent:
    """The intent of a file, or of the preset of that name; a file is named with its suffix.

    Raises InputError naming file, line and field for everything that is wrong in it.
    """
    if isinstance(expected, str) and expected in preset_names():
        return load_preset(expected)
    path = Path(expected)
    # os.path's says no, and raises nothing, of what may not be seen or cannot be a name.
    if not os.path.exists(path) and not path.suffix and path.name == str(expected):
        raise _no_preset(str(expected))
    _check_size(path)
    return _intent_of(read_document(path))


def preset_names() -> tuple[str, ...]:
    """The presets, by name."""
    names = (each.name for each in _PRESETS.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def load_preset(name: str) -> Intent:
    """The preset of that name; raises InputError for any other."""
    return _intent_of(parse_document(Path(f"{name}{_SUFFIX}"), preset_text(name)))


def preset_text(name: str) -> str:
    """The preset as written, with its comments; raises InputError for an unknown name."""
    if name not in preset_names():
        raise _no_preset(name)
    return (_PRESETS / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def _check_size(path: Path) -> None:
    """Before megabytes are parsed for nothing; what cannot be read is reported where it is read."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        return
    if size > _MAX_KIB << 10:
        raise InputError(
            f"is larger than {_MAX_KIB} KiB", where=str(path), remedy="give an intent, of YAML"
        )


def _intent_of(document: Document) -> Intent:
    return document.validate(Intent)


def _no_preset(name: str) -> InputError:
    return InputError(
        f"no preset or file is {name!r}",
        where="intent",
        remedy=did_you_mean(name, preset_names()),
    )


SCHEMA_ID = "urn:plimsoll:schema:tuning-intent:1"
# The schema's file name next to an intent, which names it in its first line.
SCHEMA_FILE = "tuning-intent.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def intent_schema() -> str:
    """What an intent may be, as it is written: the published file's content."""
    schema = _without_discriminators(Intent.model_json_schema(mode="validation"))
    head = {"$schema": _DIALECT, "$id": SCHEMA_ID}
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def _without_discriminators(schema: Any) -> Any:
    """The same without OpenAPI's keyword, which means nothing to JSON Schema next to `oneOf`.

    Strict validators, ajv among them, refuse keywords that they do not know.
    """
    if isinstance(schema, dict):
        return {
            name: _without_discriminators(each)
            for name, each in schema.items()
            if name != "discriminator"
        }
    if isinstance(schema, list):
        return [_without_discriminators(each) for each in schema]
    return schema


if __name__ == "__main__":
    enter(lambda: print(intent_schema(), end=""))
