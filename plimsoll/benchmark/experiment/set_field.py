"""Fields of an experiment set on the command line: `--set criteria.0.at_most=1e-5`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.text.document import Document, parse_value
from plimsoll.text.field_path import FieldPath

OPTION = "--set"


@dataclass(frozen=True)
class SetField:
    """A field and the plain value that it is to have instead of the file's."""

    path: FieldPath
    value: Any

    @property
    def place(self) -> str:
        """What the user knows it by."""
        return f"{OPTION} {self.path.text}"


def parse_set_field(text: str) -> SetField:
    """Read `FIELD=VALUE`, the value as YAML as in the file. Raises InputError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(
            f"{text!r} sets no field", where=OPTION, remedy="write it as in search.maximum=2Mpps"
        )
    try:
        path = FieldPath.parse(name)
    except InputError as error:
        raise InputError(error.message, where=OPTION, remedy=error.remedy) from None
    return SetField(path, parse_value(value, f"{OPTION} {name}"))


def with_fields(
    document: Document, settings: Sequence[SetField]
) -> tuple[Document, tuple[tuple[SetField, InputError], ...]]:
    """The document with the fields set in their order, and the settings that lead nowhere.

    These may lead into a file that the experiment names and that is read later.
    """
    astray = []
    for each in settings:
        try:
            document = document.with_value(each.path, each.value, each.place)
        except InputError as error:
            astray.append((each, error))
    return document, tuple(astray)
