"""Fields of a document by their path, such as `profile.streams[load].frame_size`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.text.mistakes import Location

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_STEP = re.compile(rf"({_NAME})((?:\[[^\[\]]+\])*)")
_ITEM = re.compile(r"\[([^\[\]]+)\]")
_REMEDY = (
    "write names with dots between, and items of lists in brackets by name, kind or "
    "position, as in profile.streams[load].frame_size"
)
_ALL = "*"


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The steps from the document's top to a field.

    A step is the name of a field, or in brackets an item of a list: its `name` or `kind`,
    its position from 0, or `*` for every item. A position may also stand between dots, as
    in `criteria.0.at_most`.
    """

    text: str
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """The path. Raises InputError, without a place, if it is not one."""
        steps: list[str] = []
        for part in text.split("."):
            if steps and part.isascii() and part.isdecimal():
                steps.append(f"[{part}]")
                continue
            match = _STEP.fullmatch(part)
            if match is None:
                raise InputError(f"{text!r} is not a valid path of a field", remedy=_REMEDY)
            steps += [match[1], *(f"[{item}]" for item in _ITEM.findall(match[2]))]
        return cls(text, tuple(steps))

    @property
    def location(self) -> Location | None:
        """As a location in a document; None where items are not given by their position."""
        parts: list[str | int] = []
        for step in self.steps:
            item = step[1:-1] if step.startswith("[") else None
            if item is not None and not item.isdecimal():
                return None
            parts.append(step if item is None else int(item))
        return tuple(parts)

    def put(self, document: dict[str, Any], value: object) -> tuple[Location, ...]:
        """Set the field in plain data, in place; what is around it is made where it is missing.

        Returns where it was set, once for each item of a `*`. Raises InputError where the path
        leads through something that has no such part. Whether the field itself exists is for
        the model to say.
        """
        *above, last = self.steps
        places: list[tuple[Location, Any]] = [((), document)]
        for number, step in enumerate(above):
            into_list = self.steps[number + 1].startswith("[")
            places = [
                ((*location, part), below)
                for location, place in places
                for part, below in self._parts(place, step, into_list)
            ]
        return tuple(
            (*location, part)
            for location, place in places
            for part in self._set(place, last, value)
        )

    def _parts(self, place: Any, step: str, into_list: bool) -> Iterator[tuple[str | int, Any]]:
        if step.startswith("["):
            items = self._list(place, step)
            yield from ((index, items[index]) for index in self._indices(items, step))
            return
        fields = self._mapping(place, step)
        if fields.get(step) is None and not into_list:
            fields[step] = {}
        yield step, fields.get(step)

    def _set(self, place: Any, step: str, value: object) -> list[str | int]:
        if not step.startswith("["):
            self._mapping(place, step)[step] = value
            return [step]
        items = self._list(place, step)
        indices = self._indices(items, step)
        for index in indices:
            items[index] = value
        return list(indices)

    def _mapping(self, place: Any, step: str) -> dict[str, Any]:
        if isinstance(place, dict):
            return place
        raise self._error(f"what is before {step} has no fields")

    def _list(self, place: Any, step: str) -> list[Any]:
        if isinstance(place, list):
            return place
        raise self._error(f"what is before {step} is not a list in this experiment")

    def _indices(self, items: list[Any], step: str) -> list[int]:
        key = step[1:-1]
        if key == _ALL:
            return list(range(len(items)))
        found = [index for index, item in enumerate(items) if _is_called(item, key)]
        if not found and key.isdecimal() and int(key) < len(items):
            found = [int(key)]
        if not found:
            names = sorted({name for item in items for name in _names(item)})
            known = f"; there are {', '.join(names)}" if names else ""
            raise self._error(f"no item of the list is called {key}{known}")
        return found

    def _error(self, problem: str) -> InputError:
        return InputError(f"{self.text}: {problem}", remedy=_REMEDY)


def _is_called(item: Any, key: str) -> bool:
    return key in _names(item)


def _names(item: Any) -> list[str]:
    if not isinstance(item, dict):
        return []
    return [str(item[key]) for key in ("name", "kind") if key in item]
