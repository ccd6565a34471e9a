"""User documents (YAML or JSON) read into models, mistakes with their line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import (
    QUICK_LOADER,
    check_bounds,
    check_json_depth,
    json_nodes,
    parse_json,
)
from plimsoll.text.field_path import FieldPath
from plimsoll.text.given_path import read_regular_file
from plimsoll.text.misread import misread
from plimsoll.text.mistakes import Location, as_one, brief, dotted, each_mistake, tell_mistakes
from plimsoll.text.named_program import ALLOWED_KEY, AllowedPrograms
from plimsoll.text.units import WRITTEN

M = TypeVar("M", bound=BaseModel)

_NONE: Mapping[Location, InputError] = MappingProxyType({})


@dataclass(frozen=True)
class Document:
    """A parsed file: plain data, and the nodes that know its lines.

    `set_at` has, by location, the places of what is not the file's own: an option, say.
    `allowed` is what it may have run where its author is not who runs us; None leaves that to
    the process.
    """

    path: Path
    data: dict[str, Any]
    root: yaml.Node
    set_at: Mapping[Location, str] = field(default_factory=dict)
    allowed: AllowedPrograms | None = None

    def with_value(self, path: FieldPath, value: object, place: str) -> Document:
        """The same with a field set, its mistakes to be reported at `place`.

        Raises InputError where the path leads nowhere.
        """
        data = _unshared(self.data)
        try:
            locations = path.put(data, value)
        except InputError as error:
            raise InputError(error.message, where=place, remedy=error.remedy) from None
        set_at = {**self.set_at, **dict.fromkeys(locations, place)}
        return replace(self, data=data, set_at=set_at)

    def place_of(self, location: Location) -> str:
        """Where the user finds a field: where it was set, or `file:line`."""
        for set_there, place in reversed(list(self.set_at.items())):
            within = location[: len(set_there)] == set_there
            around = set_there[: len(location)] == location and not self._holds(location)
            if within or around:
                return place
        return f"{self.path}:{self.line_of(location)}"

    def line_of(self, location: Location) -> int:
        """The line, from 1, of a field, or of the nearest thing around it that exists."""
        node = key = self.root
        for part in location:
            found = _child(node, part)
            if found is not None:
                key, node = found
        return int(key.start_mark.line) + 1

    def written_at(self, location: Location) -> str:
        """A single value as the file has it; empty where it was set, or is none."""
        if any(location[: len(each)] == each for each in self.set_at):
            return ""
        node = self.root
        for part in location:
            found = _child(node, part)
            if found is None:
                return ""
            node = found[1]
        return str(node.value) if isinstance(node, yaml.ScalarNode) else ""

    def _holds(self, location: Location) -> bool:
        """Whether the file itself has something there."""
        node = self.root
        for part in location:
            found = _child(node, part)
            if found is None:
                return False
            node = found[1]
        return True

    @property
    def _context(self) -> dict[str, Any]:
        return WRITTEN if self.allowed is None else {**WRITTEN, ALLOWED_KEY: self.allowed}

    def validate(self, model: type[M], known: Mapping[Location, InputError] = _NONE) -> M:
        """The data as `model`; raises InputError that lists every mistake with its place.

        Locations with a `known` mistake get no further ones.
        """
        mistakes = [each for error in known.values() for each in each_mistake(error)]
        try:
            validated = model.model_validate(self.data, context=self._context)
        except ValidationError as error:
            for location, mistake in tell_mistakes(
                error, model, self.line_of, self.place_of, self.written_at
            ):
                if not any(location[: len(each)] == each for each in known):
                    mistakes.append(mistake)
            raise as_one(mistakes, str(self.path)) from None
        mistakes += [self._counted_truth(each) for each in truths_as_numbers(self.data, validated)]
        if mistakes:
            raise as_one(mistakes, str(self.path))
        return validated

    def _counted_truth(self, location: Location) -> InputError:
        value: Any = self.data
        for part in location:
            value = value[part]
        return InputError(
            f"{dotted(location)}: found {self.written_at(location) or str(value).lower()}",
            where=self.place_of(location),
            remedy="write a number",
        )


def read_document(path: Path) -> Document:
    """Parse `path`.

    Raises InputError naming file and line for a file that cannot be read or parsed, a key given
    twice, and a number that YAML misreads.
    """
    return parse_document(path, _read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Parse `text`, which is or will be in `path`. Raises InputError naming file and line."""
    with _syntax_errors(text, str(path), lambda line: f"{path}:{line}", _FIX):
        root, data = _parse(text)
    if not isinstance(root, yaml.MappingNode):
        raise InputError("holds no fields", where=str(path), remedy="write `field: value` lines")
    _check_misread(root, str(path), lambda line: f"{path}:{line}")
    return Document(path, data, root)


def parse_value(text: str, where: str) -> Any:
    """One value as it would stand in a document; None of blank text.

    Raises InputError, placed at `where`, for invalid YAML and for what YAML misreads.
    """
    with _syntax_errors(text, where, lambda _: where, "write the value as in the file, in quotes"):
        root, value = _parse(text)
    _check_misread(root, where, lambda _: where)
    return value


def _check_misread(root: yaml.Node | None, where: str, place_of: Callable[[int], str]) -> None:
    """Raise InputError listing each value that is not what was written."""
    mistakes = [
        InputError(
            f"{each.field}: {each.problem}" if each.field else each.problem,
            where=place_of(each.line),
            remedy=each.remedy,
        )
        for each in misread(root)
    ]
    if mistakes:
        raise as_one(mistakes, where)


def truths_as_numbers(data: Any, made: Any, above: Location = ()) -> Iterator[Location]:
    """Where pydantic took true or false for 1 or 0."""
    if made is None:
        return
    if isinstance(data, bool):
        if isinstance(made, int | float) and not isinstance(made, bool):
            yield above
    elif isinstance(data, dict):
        for key, each in data.items():
            below = made.get(key) if isinstance(made, Mapping) else getattr(made, str(key), None)
            yield from truths_as_numbers(each, below, (*above, key))
    elif isinstance(data, list) and isinstance(made, list | tuple) and len(data) == len(made):
        for number, each in enumerate(data):
            yield from truths_as_numbers(each, made[number], (*above, number))


@contextmanager
def _syntax_errors(
    text: str, where: str, place_of: Callable[[int], str], remedy: str
) -> Iterator[None]:
    """Turn what the parser raises of `text` into InputError, with its line where it has one."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = place_of(mark.line + 1) if mark else where
        raise _syntax_error(error, place, remedy) from None
    except yaml.reader.ReaderError as error:
        # Its character is a code point, or a byte of what is not UTF-8; the text is decoded.
        line = text.count("\n", 0, error.position) + 1
        raise InputError(
            f"cannot be parsed: holds the character U+{ord(chr(error.character)):04X}",
            where=place_of(line),
            remedy="remove it: YAML is printable text",
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"cannot be parsed: {error}", where=where, remedy=remedy) from None
    except RecursionError:
        raise InputError("is nested too deeply", where=where, remedy=remedy) from None


_FIX = "fix the file's YAML"
# Messages of PyYAML's that do not help users, what they mean, and what to do.
_PROBLEMS = (
    ("another document", "a second document begins here", "keep one document a file"),
    (r"'\t'", "this is a tab, where YAML allows only blanks", "indent with blanks"),
    ("unhashable key", "the name of a field is a list or a mapping", "write a word before the :"),
    ("mapping values", "a second `: ` in one line, or a wrong indentation", "quote the value"),
    ("'@' that cannot", "a value begins with @", "put it in quotes"),
    ("'`' that cannot", "a value begins with `", "put it in quotes"),
    ("half a surrogate", "\\ud800 to \\udfff are half a character", "write the character itself"),
    ("constructor for the tag", "it has a tag (!…), of which none is known", "remove the tag"),
)
# Far more than 4096 listed values in each of eight fields take.
_MAX_MIB = 4


class _StrictConstructor(yaml.constructor.SafeConstructor):
    """PyYAML's safe one, except that a key given twice is an error, and errors have lines."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, str):
                value.encode()
            return value
        except UnicodeEncodeError:
            raise yaml.constructor.ConstructorError(
                None, None, "half a surrogate pair is not a character", node.start_mark
            ) from None
        except ValueError:
            # A date of month 13, a number of thousands of digits.
            raise yaml.constructor.ConstructorError(
                None, None, f"{brief(node.value)} is not a number or date", node.start_mark
            ) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value!r} is given twice", key.start_mark
                )
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


class _StrictLoader(_StrictConstructor, yaml.SafeLoader):
    """In Python, whose messages `_PROBLEMS` knows."""


class _QuickLoader(_StrictConstructor, QUICK_LOADER):  # type: ignore[misc] # of PyYAML's build
    """By libyaml, where PyYAML has it."""


def _read_text(path: Path) -> str:
    try:
        content = read_regular_file(path, _MAX_MIB, "split it, or remove what is not needed")
        # As text files are read: every kind of line end is one.
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), remedy="check the path") from None
    except UnicodeDecodeError:
        raise InputError(
            "is not UTF-8 text", where=str(path), remedy="give a YAML or JSON file"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be read: {reason}", where=str(path), remedy="give a readable file"
        ) from None


def _parse(text: str) -> tuple[yaml.Node | None, Any]:
    """The root node and the plain value; None and None of text that holds nothing."""
    if (value := parse_json(text)) is not None:
        check_json_depth(value)
        return json_nodes(text), value
    try:
        return _parse_by(_QuickLoader, text)
    except (yaml.YAMLError, ValueError):
        return _parse_by(_StrictLoader, text)


def _parse_by(kind: Any, text: str) -> tuple[yaml.Node | None, Any]:
    check_bounds(text, kind)
    loader = kind(text)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def _syntax_error(error: yaml.MarkedYAMLError, where: str, general: str) -> InputError:
    problem = error.problem or error.context or "is not YAML"
    for words, better, remedy in _PROBLEMS:
        if words in problem:
            return InputError(f"cannot be parsed: {better}", where=where, remedy=remedy)
    return InputError(f"cannot be parsed: {problem}", where=where, remedy=general)


def _unshared(value: Any) -> Any:
    """A copy in which no two places hold the same list or mapping, as YAML's aliases do."""
    if isinstance(value, dict):
        return {key: _unshared(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_unshared(each) for each in value]
    return value


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The key node and value node of `part`; None where the part is not a child.

    Locations from pydantic also hold the tags of unions, which are in no file.
    """
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == str(part):
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None
