"""Fields of an experiment: where they were written, and those set on the command line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.errors import InputError, PlimsollError
from plimsoll.text.document import Document, parse_value
from plimsoll.text.field_path import FieldPath
from plimsoll.text.mistakes import Location

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
    unresolved = []
    for each in settings:
        try:
            document = document.with_value(each.path, each.value, each.place)
        except InputError as error:
            unresolved.append((each, error))
    return document, tuple(unresolved)


@dataclass(frozen=True)
class SourceMap:
    """The document that an experiment was read from, if any.

    Any two are equal: where it was written is not part of an experiment.
    """

    document: Document | None = field(default=None, compare=False)

    def place(self, error: PlimsollError, sections: Collection[str]) -> None:
        """Give an error whose place is a field the file and line, or the option, of that field.

        A field is in one of the `sections`. Other places, a file say, are left as they are.
        """
        location = _field(error.where)
        if self.document is None or location is None or location[0] not in sections:
            return
        place = self.document.place_of(location)
        # An option that sets the field names it already.
        if not place.endswith(f" {error.where}"):
            error.message = f"{error.where}: {error.message}"
        error.where = place


def _field(where: str) -> Location | None:
    try:
        return FieldPath.parse(where).location
    except InputError:
        return None
