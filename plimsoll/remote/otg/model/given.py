"""A part of a request, with its path: what was not read of it is refused, and not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plimsoll.remote.otg.model.published import (
    Content,
    Model,
    Refusal,
    class_of,
    default_of,
    models,
    refused,
)


class Given:
    """An object of the request and its class in the published models, which has the defaults."""

    def __init__(self, content: Content, model: Model, path: str) -> None:
        self._content = content
        self._model = model
        self._read: set[str] = set()
        self._part: dict[str, Given] = {}
        self._listed: list[Given] = []
        self._abandoned = False
        self.path = path

    @classmethod
    def named(cls, content: Content, name: str) -> Given:
        """A whole request, of that class."""
        return cls(content, getattr(models(), name), "")

    def place(self, field: str) -> str:
        """The path of a field."""
        return f"{self.path}.{field}".lstrip(".")

    def has(self, field: str) -> bool:
        """Whether it was given at all."""
        return self._content.get(field) is not None

    def value(self, field: str) -> Any:
        """A plain field, or its default."""
        self._read.add(field)
        value = self._content.get(field)
        return default_of(self._model, field) if value is None else value

    def text(self, field: str) -> str:
        """The same of a text; empty where there is none."""
        return str(self.value(field) or "")

    def whole(self, field: str) -> int:
        """The same of a whole number, which JSON may have as text."""
        return int(self.value(field))

    def real(self, field: str) -> float:
        """The same of a number."""
        return float(self.value(field))

    def flag(self, field: str) -> bool:
        """The same of true or false."""
        return bool(self.value(field))

    def names(self, field: str) -> list[str]:
        """A list of texts; empty where it is not given."""
        return [str(each) for each in self.value(field) or []]

    def standing_for(self, content: Content) -> Given:
        """Other content in this one's place, of which it does not matter what is read."""
        return Given(content, self._model, self.path)

    @property
    def choice(self) -> str:
        """Which of the alternatives it is: as said, or the only one given, or the default."""
        self._read.add("choice")
        said = self._content.get("choice")
        if said is not None:
            return str(said)
        others = [name for name, value in self._content.items() if value is not None]
        if len(others) == 1:
            return others[0]
        return str(default_of(self._model, "choice"))

    def part(self, field: str) -> Given:
        """An object within, empty where it is not given."""
        self._read.add(field)
        if field not in self._part:
            content = self._content.get(field)
            inner = class_of(self._model, field)
            self._part[field] = Given(content or {}, inner, self.place(field))
        return self._part[field]

    def parts(self, field: str) -> list[Given]:
        """The objects of a list."""
        self._read.add(field)
        inner = class_of(self._model, field)
        found = [
            Given(content, inner, f"{self.place(field)}[{index}]")
            for index, content in enumerate(self._content.get(field) or [])
        ]
        self._listed += found
        return found

    def leave(self, *fields: str) -> None:
        """Fields that may be given and change nothing here."""
        self._read.update(fields)

    def refused(self, field: str, message: str, remedy: str = "") -> Refusal:
        """A validation error at a field."""
        return refused(self.place(field) if field else self.path, message, remedy)

    def abandon(self) -> None:
        """It was read only as far as something that is refused: of the rest nothing is known."""
        self._abandoned = True

    def unread(self) -> Iterator[str]:
        """The paths of what was given, is not the default, and was never read."""
        if self._abandoned:
            return
        for field, value in self._content.items():
            if field not in self._read:
                yield from _differing(value, self._model, field, self.place(field))
        for part in (*self._part.values(), *self._listed):
            yield from part.unread()


def _differing(value: Any, model: Model, field: str, path: str) -> Iterator[str]:
    inner = class_of(model, field)
    if value is None:
        return
    if inner is None:
        if str(value) != str(default_of(model, field)):
            yield path
    elif isinstance(value, list):
        yield from (f"{path}[{index}]" for index in range(len(value)))
    else:
        for name, content in value.items():
            if name != "choice":
                yield from _differing(content, inner, name, f"{path}.{name}")
