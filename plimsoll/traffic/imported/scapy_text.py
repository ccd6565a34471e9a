"""A packet in Scapy's notation, as bench-trafficgen keeps it: parsed here, and never run.

What is read is layers with keyword arguments and payloads, joined by `/`. Everything else
that Python has is refused: names, calls of anything but a layer, and arithmetic.
"""

from __future__ import annotations

import ast

from plimsoll.errors import InputError
from plimsoll.traffic.frames.packet import build_layer
from plimsoll.traffic.frames.scapy_layers import FieldValue, Layer, Stack

_PREFIX = "scapy:"
# Python's parser works in depth; longer text is not a packet that anyone wrote.
_LONGEST_TEXT = 4096
_MAX_LAYERS = 32
_REMEDY = "write for example scapy:Ether()/IP(src='10.0.0.1', dst='10.1.0.1')/UDP()/'payload'"


def parse_scapy(text: str) -> Stack:
    """The layers of `scapy:Ether()/IP(dst='10.1.0.1')/UDP()/'payload'`, each checked.

    Text behind the layers is the payload, a layer Raw. Raises InputError, without a place,
    for anything that is not a packet, and for layers and fields that cannot be sent.
    """
    parts = _parts(_expression(text))
    if len(parts) > _MAX_LAYERS:
        raise InputError(f"{len(parts)} layers are too many", remedy=f"use {_MAX_LAYERS} at most")
    stack = tuple(_layer(part) for part in parts)
    if stack[0].name != "Ether":
        raise InputError(f"the first layer is {stack[0].name}", remedy="begin with Ether()")
    if "Raw" in [layer.name for layer in stack[:-1]]:
        raise InputError("a payload is followed by a layer", remedy="write the payload last")
    for layer in stack:
        build_layer(layer)
    return stack


def _expression(text: str) -> ast.expr:
    if not text.startswith(_PREFIX):
        raise InputError(f"{text[:40]!r} does not begin with {_PREFIX}", remedy=_REMEDY)
    written = text.removeprefix(_PREFIX).strip()
    if len(written) > _LONGEST_TEXT:
        problem = f"{len(written)} characters are more than a packet takes"
        raise InputError(problem, remedy=f"write {_LONGEST_TEXT} at most")
    try:
        return ast.parse(written, mode="eval").body
    # Of malformed text, of null bytes, and of text that is nested too deeply.
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(f"is not Scapy's notation: {reason}", remedy=_REMEDY) from None


def _parts(expression: ast.expr) -> list[ast.expr]:
    """What `/` joins, from the outermost layer inwards."""
    parts: list[ast.expr] = []
    while isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Div):
        parts.append(expression.right)
        expression = expression.left
    return [expression, *reversed(parts)]


def _layer(part: ast.expr) -> Layer:
    if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes):
        return Layer("Raw", (("load", _bytes_as_text(part.value)),))
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name):
        raise _refused(part, "is neither a layer nor a payload")
    name = part.func.id
    if part.args:
        raise _refused(part, f"gives {name} an argument without a name")
    return Layer(name, tuple(_field(name, keyword) for keyword in part.keywords))


def _field(layer: str, keyword: ast.keyword) -> tuple[str, FieldValue]:
    if keyword.arg is None:
        raise _refused(keyword.value, f"gives {layer} arguments without names")
    return keyword.arg, _value(keyword.value)


def _value(part: ast.expr) -> FieldValue:
    """A constant, or a list of them, as TCP's options are."""
    if isinstance(part, ast.List | ast.Tuple):
        return tuple(_value(each) for each in part.elts)
    if not isinstance(part, ast.Constant):
        raise _refused(part, "is not a constant")
    match part.value:
        case bool():
            return int(part.value)
        case None | int() | str():
            return part.value
        case bytes():
            return _bytes_as_text(part.value)
    raise _refused(part, "is not a number, text or bytes")


def _bytes_as_text(value: str | bytes) -> str:
    """As profiles write bytes: text, or hexadecimal where that is what it would look like."""
    content = value.encode() if isinstance(value, str) else value
    if isinstance(value, str) and not value.lower().startswith("0x"):
        return value
    return f"0x{content.hex()}"


def _refused(part: ast.expr, problem: str) -> InputError:
    return InputError(f"{ast.unparse(part)[:60]} {problem}", remedy=_REMEDY)
