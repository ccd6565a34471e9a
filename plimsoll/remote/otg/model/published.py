"""The published models (PyPI: snappi): messages to content and back, held against the schema.

Content is what JSON has: dicts, lists and plain values, by OTG's own field names. Protobuf's
reader refuses fields that there are not, snappi's classes the values that the schema forbids.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.extras import added_by

RefusalKind = Literal["validation", "internal"]


class Refusal(Exception):
    """Why a request is not carried out, as OTG's `Error`: its kind and one or more texts."""

    def __init__(self, *errors: str, kind: RefusalKind = "validation") -> None:
        super().__init__("; ".join(errors))
        self.errors = errors
        self.kind = kind


def refused(path: str, message: str, remedy: str = "") -> Refusal:
    """A validation error at a field's path."""
    return Refusal(f"{path}: {message}" + (f" ({remedy})" if remedy else ""))


@contextmanager
def placed_at(path: str) -> Iterator[None]:
    """What Plimsoll refuses in here is refused at that path."""
    try:
        yield
    except PlimsollError as error:
        raise refused(path, error.message, error.remedy) from None


class Abandonable(Protocol):
    """A part of a request that can be read no further."""

    def abandon(self) -> None:
        """What was not read of it is not known to be wrong."""


@dataclass
class Refusals:
    """Those of several parts of a request, which are then reported together."""

    errors: list[str] = field(default_factory=list)

    @contextmanager
    def collecting(self, *reading: Abandonable) -> Iterator[None]:
        """What is refused in here is remembered, and that these parts were read no further."""
        try:
            yield
        except Refusal as refusal:
            if refusal.kind != "validation":
                raise
            self.errors += refusal.errors
            for part in reading:
                part.abandon()

    def add(self, errors: Sequence[str]) -> None:
        """Texts of further mistakes."""
        self.errors += errors

    def check(self) -> None:
        """Raise Refusal where there is any."""
        if self.errors:
            raise Refusal(*self.errors)


# Generated code without types.
Model = Any
ProtobufMessage = Any
Content = dict[str, Any]

_DEEPEST = 40


@cache
def models() -> Model:
    """snappi's module of generated classes. Raises MachineError where it is missing."""
    try:
        import snappi.snappi as generated  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            f"{error.name} is not installed",
            where="plimsoll serve otg",
            remedy=added_by("otg"),
        ) from error
    # It says on stderr what each request misses; that goes to the client instead.
    logging.getLogger("snappi").setLevel(logging.CRITICAL)
    return generated


@cache
def messages() -> Any:
    """The protobuf messages."""
    models()
    from snappi import otg_pb2  # noqa: PLC0415

    return otg_pb2


@cache
def api_version() -> str:
    """Of the OTG models, such as 1.62.0."""
    return str(models().Version().api_spec_version or _installed_version())


def _installed_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version("snappi")


def content_of(message: ProtobufMessage) -> Content:
    """A protobuf message's content."""
    from google.protobuf import json_format  # noqa: PLC0415

    return dict(json_format.MessageToDict(message, preserving_proto_field_name=True))


def message_of(name: str, content: Mapping[str, Any]) -> ProtobufMessage:
    """The message of that name with this content. Raises Refusal for what it cannot hold."""
    from google.protobuf import json_format  # noqa: PLC0415

    message = getattr(messages(), name)()
    try:
        return json_format.ParseDict(dict(content), message, max_recursion_depth=_DEEPEST)
    except (json_format.ParseError, RecursionError, ValueError, TypeError) as error:
        raise Refusal(_first_line(error)) from None


def parse_json(name: str, body: bytes) -> Content:
    """The content of a request's JSON, known to be of that message. Raises Refusal."""
    try:
        given = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise Refusal(f"the request is not JSON: {_first_line(error)}") from None
    if not isinstance(given, dict):
        raise Refusal(f"the request is not an object but {type(given).__name__}")
    return content_of(message_of(name, given))


def validated(name: str, content: Content) -> Content:
    """The content with the schema's ranges, formats and required fields checked.

    Raises Refusal at the path of the innermost part that is wrong.
    """
    model = getattr(models(), name)
    try:
        return dict(model().deserialize(content).serialize("dict"))
    # Generated code raises whatever its checks happen to meet.
    except Exception as error:
        path, message = _located(content, model, "", _first_line(error))
        raise refused(path or name, message) from None


def default_of(model: Model, field: str) -> Any:
    """What a field of a generated class is where it is not given; None without a default."""
    return _fresh(model, field)


@cache
def _fresh(model: Model, field: str) -> Any:
    return getattr(model(), field, None)


def class_of(model: Model, field: str) -> Model:
    """The generated class of a field that is an object, or of a list's items; else None."""
    value = _fresh(model, field)
    name = type(value).__name__
    if not hasattr(models(), name):
        return None
    return getattr(models(), name.removesuffix("Iter"), None)


def _located(content: Content, model: Model, path: str, message: str) -> tuple[str, str]:
    """Where in there the mistake lies, and what it is."""
    for name, value in content.items():
        inner = class_of(model, name)
        if inner is None:
            continue
        listed = isinstance(value, list)
        for index, part in enumerate(value if listed else [value]):
            place = f"{path}.{name}".lstrip(".") + (f"[{index}]" if listed else "")
            try:
                inner().deserialize(part)
            except Exception as error:
                return _located(part, inner, place, _first_line(error))
    return path, message


def _first_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text[:500] or type(error).__name__
