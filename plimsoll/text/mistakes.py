"""What pydantic rejected, as messages to the author of the file."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import isabstract
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from plimsoll.errors import InputError
from plimsoll.search.text.errors import did_you_mean, mistake
from plimsoll.text.units import in_units_of

__all__ = [
    "Location",
    "Mistakes",
    "as_one",
    "brief",
    "check_all",
    "describe_mistakes",
    "did_you_mean",
    "dotted",
    "each_mistake",
    "mistake",
    "tell_mistakes",
]

Location = tuple[str | int, ...]

_MAX_LISTED = 20
_MAX_FIELDS = 6
# Fits every pattern in use: those of the names of experiments and of streams.
_NAME_REMEDY = "use letters, digits, . _ - and at most 64 characters, the first a letter or a digit"


def check_all(*checks: Callable[[], object]) -> None:
    """Run a model's own checks, each of which may raise a `mistake`, and raise those of all."""
    found = []
    for check in checks:
        try:
            check()
        except PydanticCustomError as error:
            found.append(InitErrorDetails(type=error, input=None))
    if found:
        raise ValidationError.from_exception_data("mistakes", found)


class Mistakes(InputError):
    """Several mistakes, which the message lists."""

    def __init__(self, mistakes: Sequence[InputError], where: str) -> None:
        listing = "".join(f"\n  {mistake}" for mistake in mistakes[:_MAX_LISTED])
        left_out = len(mistakes) - _MAX_LISTED
        more = f"\n  and {left_out} more" if left_out > 0 else ""
        super().__init__(f"{len(mistakes)} mistakes:{listing}{more}", where=where)
        self.mistakes = tuple(mistakes)


def each_mistake(error: InputError) -> tuple[InputError, ...]:
    """Those that an error lists, or the error itself."""
    return error.mistakes if isinstance(error, Mistakes) else (error,)


def as_one(mistakes: Sequence[InputError], where: str) -> InputError:
    """The one mistake, or an error that lists all; `where` is what they are in."""
    return mistakes[0] if len(mistakes) == 1 else Mistakes(mistakes, where)


def describe_mistakes(
    error: ValidationError,
    model: type[BaseModel],
    file: str,
    line_of: Callable[[Location], int],
) -> InputError:
    """One InputError for all that `error` found, in the order of the file's lines."""
    mistakes = tell_mistakes(error, model, line_of, lambda location: f"{file}:{line_of(location)}")
    return as_one([mistake for _, mistake in mistakes], file)


def tell_mistakes(
    error: ValidationError,
    model: type[BaseModel],
    line_of: Callable[[Location], int],
    place_of: Callable[[Location], str],
    written_at: Callable[[Location], str] = lambda _: "",
) -> list[tuple[Location, InputError]]:
    """All that `error` found, each with its location, in the order of the file's lines.

    `place_of` is what the user knows a location by, `written_at` the text that stands there.
    """
    found = [
        (_location(details), _as_written(details, written_at))
        for details in _genuine(error.errors())
    ]
    found.sort(key=lambda each: line_of(each[0]))
    return [_tell(location, details, model, place_of) for location, details in found]


def _genuine(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without the shortness of a list that is short only because its items are wrong."""
    return [
        each
        for each in errors
        if each["type"] != "too_short" or not any(_is_below(other, each) for other in errors)
    ]


def _is_below(details: ErrorDetails, above: ErrorDetails) -> bool:
    depth = len(above["loc"])
    return len(details["loc"]) > depth and details["loc"][:depth] == above["loc"]


def _location(details: ErrorDetails) -> Location:
    """Where it is; a model's own check names the field it is about in its context."""
    if details["type"] == "invalid_key":
        # YAML's 1, true and null are not text, but are where a field's name should be.
        return (*details["loc"][:-1], str(details["loc"][-1]))
    return (*details["loc"], *details.get("ctx", {}).get("field", ()))


class _Truth:
    """True or false by the word that was written for it, which may have meant neither."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


def _as_written(details: ErrorDetails, written_at: Callable[[Location], str]) -> ErrorDetails:
    """With the word (yes, off) of what YAML took for true or false."""
    if isinstance(details["input"], bool):
        word = written_at(_location(details)) or str(details["input"]).lower()
        return {**details, "input": _Truth(word)}
    return details


def _tell(
    tagged: Location,
    details: ErrorDetails,
    model: type[BaseModel],
    place_of: Callable[[Location], str],
) -> tuple[Location, InputError]:
    tags = _tags_in(model, tagged)
    location = tuple(part for place, part in enumerate(tagged) if place not in tags)
    path = dotted(location)
    message, remedy = _explain(details, model)
    place = place_of(location)
    # An option that sets the field names it already.
    problem = message if not path or place.endswith(f" {path}") else f"{path}: {message}"
    return location, InputError(problem, where=place, remedy=remedy)


def _explain(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """What is wrong and what to do."""
    context: dict[str, Any] = details.get("ctx", {})
    if "remedy" in context:
        return details["msg"], context["remedy"]
    if explain := _EXPLAINED.get(details["type"]):
        return explain(details, model)
    if remedy := _REMEDIES.get(details["type"]):
        return f"found {brief(details['input'])}", remedy
    expected = details["msg"].removeprefix("Input ")
    return f"found {brief(details['input'])}", f"it {expected}"


def _unknown_field(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    known = _fields_at(model, details["loc"][:-1])
    return "unknown field", did_you_mean(str(details["loc"][-1]), known)


def _missing_field(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    name = details["loc"][-1]
    return "is missing", "add a value" if isinstance(name, int) else f"add `{name}:`"


def _missing_tag(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    field = details["ctx"]["discriminator"].strip("'")
    return f"has no {field}", f"add `{field}:`"


def _unknown_tag(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    context = details["ctx"]
    known = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
    field = context["discriminator"].strip("'")
    return f"unknown {field} {context['tag']!r}", did_you_mean(context["tag"], known)


def _unknown_word(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    return f"{brief(details['input'])} is not known", f"use {details['ctx']['expected']}"


def _too_short(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    return f"found {brief(details['input'])}", f"give at least {details['ctx']['min_length']}"


def _too_long(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    return f"found {brief(details['input'])}", f"give at most {details['ctx']['max_length']}"


def _text_too_short(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    found, remedy = _too_short(details, model)
    return found, f"{remedy} character(s)"


def _text_too_long(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    found, remedy = _too_long(details, model)
    return found, f"{remedy} character(s)"


def _not_a_name(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    return f"found {brief(details['input'])}", _NAME_REMEDY


def _no_list(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    given = details["input"]
    problem = f"found {brief(given)}"
    if fields := _fields_in_order(model, details["loc"]):
        return problem, f"write a list, each entry with its fields: {fields}"
    plain = isinstance(given, int) and not isinstance(given, bool)
    if plain or (isinstance(given, str) and given.isidentifier()):
        return problem, f"write [{given}]"
    return problem, "write a list, such as [0, 1]"


def _no_fields(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    fields = _fields_in_order(model, details["loc"])
    return f"found {brief(details['input'])}", f"write its fields with their values: {fields}"


def _fields_in_order(model: type[BaseModel], location: Location) -> str:
    names = [name for place in _walk(model, location)[0] for name in place.model_fields]
    fields = list(dict.fromkeys(names))
    return ", ".join(fields[:_MAX_FIELDS]) + (", …" if len(fields) > _MAX_FIELDS else "")


def _beyond_limit(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    ((bound, limit),) = details["ctx"].items()
    return (
        f"found {brief(details['input'])}",
        f"give {words[bound]} {in_units_of(details['input'], limit)}",
    )


def _broken_check(details: ErrorDetails, _: type[BaseModel]) -> tuple[str, str]:
    return details["msg"].removeprefix("Value error, "), ""


_EXPLAINED: dict[str, Callable[[ErrorDetails, type[BaseModel]], tuple[str, str]]] = {
    "extra_forbidden": _unknown_field,
    "missing": _missing_field,
    "union_tag_not_found": _missing_tag,
    "union_tag_invalid": _unknown_tag,
    "literal_error": _unknown_word,
    "too_short": _too_short,
    "too_long": _too_long,
    "string_too_short": _text_too_short,
    "string_too_long": _text_too_long,
    "string_pattern_mismatch": _not_a_name,
    "value_error": _broken_check,
    "invalid_key": _unknown_field,
    "tuple_type": _no_list,
    "list_type": _no_list,
    "model_type": _no_fields,
    "model_attributes_type": _no_fields,
    "dict_type": _no_fields,
    "greater_than_equal": _beyond_limit,
    "greater_than": _beyond_limit,
    "less_than_equal": _beyond_limit,
    "less_than": _beyond_limit,
}

_WHOLE, _NUMBER, _TEXT = "write a whole number", "write a number", "write text, in quotes"
_TRUTH = "write true or false"
_REMEDIES = {
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "write a smaller number",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "string_type": _TEXT,
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
}


def brief(value: object) -> str:
    """A value to be recognised by, short however large it is."""
    representation = reprlib.Repr()
    representation.maxlevel = 2
    return representation.repr(value)


def dotted(parts: Iterable[str | int]) -> str:
    """A location as a path: `criteria[0].at_most`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _fields_at(model: type[BaseModel], location: Location) -> set[str]:
    return {name for place in _walk(model, location)[0] for name in place.model_fields}


def _tags_in(model: type[BaseModel], location: Location) -> set[int]:
    return _walk(model, location)[1]


def _walk(model: type[BaseModel], location: Location) -> tuple[list[type[BaseModel]], set[int]]:
    """The models that may stand at `location`, and which of its parts are tags of unions.

    A location holds, in addition to fields and indexes, the tag of each union member
    that pydantic chose; a tag is in no file and narrows the choice of models.
    """
    here, tags = [model], set[int]()
    for place, part in enumerate(location):
        if isinstance(part, int):
            continue
        holders = [each for each in here if part in each.model_fields]
        if holders:
            annotations = [each.model_fields[part].annotation for each in holders]
            here = [found for annotation in annotations for found in _models_in(annotation)]
        elif chosen := [each for each in here if _has_tag(each, part)]:
            here = chosen
            tags.add(place)
    return here, tags


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return list(_made_of(annotation))
    return [model for argument in get_args(annotation) for model in _models_in(argument)]


def _made_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Itself; an abstract one stands for those that are made of it, as far as they are loaded."""
    if not isabstract(model):
        yield model
        return
    for each in model.__subclasses__():
        yield from _made_of(each)


def _has_tag(model: type[BaseModel], tag: str) -> bool:
    return tag == model.__name__ or any(
        tag in get_args(field.annotation) for field in model.model_fields.values()
    )
