"""A field that is of one of several kinds: read, refused, written, and in the schema."""

from abc import ABC
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, SerializeAsAny, TypeAdapter, ValidationError

from plimsoll.text.kinds import OfKind
from tests.worded.says import Says


class Shape(BaseModel, ABC):
    model_config = ConfigDict(extra="forbid")
    kind: str


class Circle(Shape):
    kind: Literal["circle"] = "circle"
    radius: float


class Square(Shape):
    kind: Literal["square"] = "square"
    side: float = 1.0


class Imported(Mapping[str, type[Shape]]):
    """The kinds, and which of them were loaded."""

    models: Mapping[str, type[Shape]] = {"circle": Circle, "square": Square}

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def __getitem__(self, kind: str) -> type[Shape]:
        self.loaded.append(kind)
        return self.models[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def __contains__(self, kind: object) -> bool:
        return kind in self.models


KINDS = Imported()
Field = Annotated[SerializeAsAny[Shape], OfKind(lambda: KINDS)]
SquareByDefault = Annotated[SerializeAsAny[Shape], OfKind(lambda: KINDS, "square")]


class Drawing(BaseModel):
    shapes: tuple[Field, ...]


def test_only_the_kind_that_is_named_is_loaded() -> None:
    KINDS.loaded.clear()
    drawing = Drawing.model_validate({"shapes": [{"kind": "circle", "radius": 2}]})
    assert drawing.shapes == (Circle(radius=2),)
    assert set(KINDS.loaded) == {"circle"}
    assert Drawing.model_validate(drawing.model_dump()) == drawing
    assert drawing.model_dump()["shapes"][0]["radius"] == 2


def test_one_without_a_kind_is_of_the_default_one() -> None:
    made: Shape = TypeAdapter(SquareByDefault).validate_python({"side": 3})
    assert made == Square(side=3)


@pytest.mark.parametrize(
    ("given", "location", "facts"),
    [
        ({"kind": "cricle"}, ("shapes", 0), ("cricle", "circle")),
        ({"kind": ["circle"]}, ("shapes", 0), ("['circle']",)),
        ({}, ("shapes", 0), ("kind",)),
        ({"kind": "square", "syde": 1}, ("shapes", 0, "square", "syde"), ()),
        (7, ("shapes", 0), ()),
    ],
)
def test_what_is_of_none_is_refused_where_it_stands(
    given: object, location: tuple[str | int, ...], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        Drawing.model_validate({"shapes": [given]})
    (mistake,) = caught.value.errors()
    assert mistake["loc"] == location
    assert caught.value == says(*facts)


def test_the_schema_has_all_kinds() -> None:
    schema = Drawing.model_json_schema()
    items = schema["properties"]["shapes"]["items"]
    assert set(items["discriminator"]["mapping"]) == {"circle", "square"}
    assert schema["$defs"]["Circle"]["required"] == ["radius"]
