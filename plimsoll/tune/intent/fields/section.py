"""What every section of an intent shares, and the kinds of text and switch in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
)

from plimsoll.text.mistakes import brief, mistake

T = TypeVar("T")

_LONGEST_TEXT = 4096
# A node has some hundreds of ports and pods; what is longer is not an intent.
_MAX_LISTED = 1024
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
Listed: TypeAlias = Annotated[tuple[T, ...], Field(strict=False, max_length=_MAX_LISTED)]


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


_DEEPEST = 16
_MAX_VALUES = 2000
_LONGEST_EXTRA_TEXT = 1 << 16


def _check_given(given: object) -> object:
    """As JSON has it, before it is parsed: YAML also has dates and keys that are not text."""
    if not isinstance(given, Mapping) or not given:
        raise mistake(f"found {brief(given)}", "write fields and their values")
    _count(given, 0, 0)
    return dict(given)


def _count(given: object, depth: int, counted: int) -> int:
    if depth > _DEEPEST:
        raise mistake(f"goes deeper than {_DEEPEST} fields", "write the fields that differ alone")
    counted += 1
    if counted > _MAX_VALUES:
        raise mistake(f"has more than {_MAX_VALUES} values", "write the fields that differ alone")
    if isinstance(given, Mapping):
        for name, value in given.items():
            if not isinstance(name, str) or not name or not name.isprintable():
                raise mistake(f"{brief(name)} names no field", "put it in quotes, as text")
            counted = _count(value, depth + 1, counted)
    elif isinstance(given, list):
        for value in given:
            counted = _count(value, depth + 1, counted)
    elif isinstance(given, str):
        _check_text(given)
    elif given is not None and not isinstance(given, bool | int | float):
        raise mistake(f"found {brief(given)}", "write text, a number, true or false")
    return counted


def _check_text(text: str) -> None:
    """Several lines are well: a TuneD profile is one text."""
    if len(text) > _LONGEST_EXTRA_TEXT:
        raise mistake(f"has {len(text)} characters", f"use at most {_LONGEST_EXTRA_TEXT}")
    if not all(each.isprintable() or each in "\n\t" for each in text):
        raise mistake(f"found {brief(text)}", "leave out control characters")


def _keep(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(given)


# At least one field. JSON's values alone: text, numbers, truths, null, lists and fields again.
FreeFields: TypeAlias = Annotated[
    Mapping[str, JsonValue], BeforeValidator(_check_given), AfterValidator(_keep)
]


RenderedKind = Literal[
    "ConfigMap",
    "Console",
    "KubeletConfig",
    "MachineConfig",
    "MachineConfigPool",
    "Namespace",
    "Network",
    "NetworkAttachmentDefinition",
    "PerformanceProfile",
    "Pod",
    "Role",
    "RoleBinding",
    "SecurityContextConstraints",
    "ServiceAccount",
    "SriovNetwork",
    "SriovNetworkNodePolicy",
    "Tuned",
]
_METADATA = ("annotations", "labels")
_HOLDERS = ("data", "metadata", "spec")
_IDENTITY = {
    "apiVersion": "leave it out",
    "kind": "leave it out",
    "status": "leave it out: it is the cluster's to write",
}


def _check_patch(patch: FreeFields) -> FreeFields:
    """An object's identity, and the status that a cluster gives it, cannot be added."""
    for name, remedy in _IDENTITY.items():
        if name in patch:
            raise mistake("is not to be changed", remedy, name)
    for name in _HOLDERS:
        if not isinstance(patch.get(name, {}), Mapping):
            raise mistake(f"found {brief(patch[name])}", "write its fields", name)
    metadata = patch.get("metadata", {})
    for name in metadata if isinstance(metadata, Mapping) else ():
        if name not in _METADATA:
            raise mistake("is not to be changed", "write annotations and labels", "metadata", name)
    return patch


Patch: TypeAlias = Annotated[FreeFields, AfterValidator(_check_patch)]


class Extra(Section):
    """A change of the rendered objects of one kind, or of one of them."""

    kind: RenderedKind
    """The kind of the rendered objects that it changes."""
    name: ObjectName | None = None
    """The one object that it changes; left out, all of that kind."""
    patch: Patch
    """A JSON merge patch (RFC 7396): fields take the place of rendered ones, lists whole, null
    takes a field out."""

    def is_for(self, kind: str, name: str) -> bool:
        """Whether it changes the object of that kind and name."""
        return self.kind == kind and self.name in (None, name)

    @property
    def title(self) -> str:
        """What it changes: PerformanceProfile fast."""
        return f"{self.kind} {self.name}" if self.name else f"each {self.kind}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields that it sets or takes out: spec.net.devices."""
        return tuple(_paths(self.patch, ""))


def _paths(patch: Mapping[str, Any], before: str) -> Iterator[str]:
    for name, value in patch.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def merged(given: Any, patch: Any) -> Any:
    """`given` with the JSON merge patch on it (RFC 7396, section 2); `given` stays as it is."""
    if not isinstance(patch, Mapping):
        return patch
    fields = dict(given) if isinstance(given, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = merged(fields.get(name), value)
    return fields
