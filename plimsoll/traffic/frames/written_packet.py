"""A profile's `packet`: a list of Scapy's layers, read from plain YAML."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.layers import FieldValue, Layer, Stack
from plimsoll.traffic.frames.packet import build_layer

_MOST_LAYERS = 32
_FORM = "write a layer's name, or {IP: {dst: 198.19.0.1}}"
_PLAIN = "write text, a whole number or a list of them"


def parse_packet(given: object) -> Stack:
    """The layers that a list names, each of them checked by Scapy; raises a mistake."""
    if isinstance(given, tuple) and all(isinstance(each, Layer) for each in given):
        return given
    if not isinstance(given, list) or not 1 <= len(given) <= _MOST_LAYERS:
        raise mistake(f"a packet is a list of 1 to {_MOST_LAYERS} layers", _FORM)
    stack = tuple(_layer(each, index) for index, each in enumerate(given))
    if stack[0].name != "Ether":
        raise mistake(f"the first layer is {stack[0].name}", "begin with Ether", 0)
    for index, each in enumerate(stack):
        try:
            build_layer(each)
        except InputError as error:
            raise mistake(error.message, error.remedy, index) from None
    return stack


def written_packet(stack: Stack) -> list[object]:
    """What `parse_packet` reads back to these very layers."""
    return [
        {each.name: {name: _as_yaml(value) for name, value in each.fields}}
        if each.fields
        else each.name
        for each in stack
    ]


def _layer(given: object, index: int) -> Layer:
    if isinstance(given, str):
        return Layer(given)
    if not isinstance(given, dict) or len(given) != 1:
        raise mistake(f"{given!r} is not a valid layer", _FORM, index)
    ((name, fields),) = given.items()
    if not isinstance(name, str) or not isinstance(fields, dict | None):
        raise mistake(f"{given!r} is not a valid layer", _FORM, index)
    return Layer(
        name, tuple((str(k), _plain(v, index, name, k)) for k, v in (fields or {}).items())
    )


def _plain(value: object, *where: str | int) -> FieldValue:
    """A value without anything that is not plain; `where` it stands."""
    if isinstance(value, list | tuple):
        return tuple(_plain(each, *where) for each in value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | int):
        return value
    raise mistake(f"{'.'.join(map(str, where[1:]))}: found {value!r}", _PLAIN, *where)


def _as_yaml(value: object) -> object:
    return [_as_yaml(each) for each in value] if isinstance(value, tuple) else value


PacketField = Annotated[
    Stack,
    PlainValidator(parse_packet),
    PlainSerializer(written_packet),
    WithJsonSchema({"type": "array"}),
]
