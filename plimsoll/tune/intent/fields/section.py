"""What every section of an intent shares, and the kinds of text and switch in them."""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from plimsoll.text.mistakes import brief, mistake

T = TypeVar("T")

_LONGEST_TEXT = 4096
# A node has some hundreds of ports and pods; what is longer is not an intent.
_MOST_LISTED = 1024
_LONGEST_NAME = 63


class Section(BaseModel):
    """Strict: a number in quotes or a misspelt field is a mistake, not a guess.

    The text below a field is its description in the published schema.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        defer_build=True,
    )


# YAML has lists, our models tuples; what is in them stays strict.
Listed: TypeAlias = Annotated[tuple[T, ...], Field(strict=False, max_length=_MOST_LISTED)]


def _printable(text: str) -> str:
    if len(text) > _LONGEST_TEXT:
        raise mistake(f"has {len(text)} characters", f"use at most {_LONGEST_TEXT}")
    if not text.isprintable():
        raise mistake(f"found {brief(text)}", "leave out control characters and line ends")
    return text


def _word(text: str) -> str:
    if not text or text.split() != [text]:
        raise mistake(f"found {brief(text)}", "write it without blanks, and not empty")
    return text


def _object_name(name: str) -> str:
    """RFC 1123's label, which Kubernetes asks of most names."""
    usable = name.isascii() and name.replace("-", "").isalnum() and name == name.lower()
    if not usable or not name[0].isalnum() or not name[-1].isalnum() or len(name) > _LONGEST_NAME:
        raise mistake(
            f"{brief(name)} cannot name an object",
            f"use lower case letters, digits and -, at most {_LONGEST_NAME}, "
            "the first and the last no -",
        )
    return name


def _switch(given: object) -> object:
    """YAML 1.1 reads a bare on as true; YAML 1.2 and JSON leave it text."""
    if isinstance(given, bool) or given is None:
        return given
    if given in ("on", "off"):
        return given == "on"
    raise mistake(f"found {brief(given)}", "write on or off, or leave it out")


# One line of text.
Text: TypeAlias = Annotated[str, AfterValidator(_printable)]
# One line without blanks: a device, a kernel argument, a process.
Word: TypeAlias = Annotated[str, AfterValidator(_printable), AfterValidator(_word)]
# What Kubernetes accepts as the name of an object.
ObjectName: TypeAlias = Annotated[str, AfterValidator(_object_name)]
# On or off; None, the field left out, is "not specified": neither rendered nor judged.
Switch: TypeAlias = Annotated[
    bool | None,
    BeforeValidator(_switch),
    WithJsonSchema({"enum": ["on", "off", True, False, None]}),
]
