"""Where an experiment's fields were written, so that mistakes are reported with their place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from plimsoll.errors import InputError, PlimsollError
from plimsoll.text.document import Document
from plimsoll.text.field_path import FieldPath
from plimsoll.text.mistakes import Location


@dataclass(frozen=True)
class WrittenAt:
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
