"""A pattern as the engine writes it: which values a field can take from frame to frame."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.remote.otg.flows.pattern import Pattern
from plimsoll.traffic.frames.field_finder import FoundField, find_field
from plimsoll.traffic.frames.field_values import from_number
from plimsoll.traffic.frames.layers import Stack
from plimsoll.traffic.frames.vary import MOST_VALUES
from plimsoll.traffic.plan import FieldWriter

_MOST_STEP = 2**32 - 1


def writer_of(stack: Stack, index: int, field: str, pattern: Pattern) -> FieldWriter:
    """What writes `pattern` into a field of the `index`-th layer. Raises InputError."""
    found = find_field(stack, index, field)
    if pattern.drawn:
        return _writer(found, pattern.count, kind="random", seed=pattern.seed)
    if pattern.values:
        return _list(found, pattern.values)
    step = _upward_step(found, pattern)
    if step is not None:
        return _writer(found, pattern.count, step=step)
    if pattern.count > MOST_VALUES:
        raise InputError(
            f"{pattern.count} values in steps of {pattern.step}",
            remedy=f"give at most {MOST_VALUES} of them, or smaller steps upwards",
        )
    room = 1 << found.bits
    return _list(
        found,
        tuple((pattern.first + number * pattern.step) % room for number in range(pattern.count)),
    )


def _upward_step(found: FoundField, pattern: Pattern) -> int | None:
    """The step with which the engine's counting up, modulo the field, gives the same; or None."""
    room = 1 << found.mask.bit_count()
    last = pattern.first + (pattern.count - 1) * pattern.step
    if found.mask.bit_count() < found.bits and not 0 <= last >> found.mask.bit_count() == (
        pattern.first >> found.mask.bit_count()
    ):
        return None
    step = pattern.step % room
    return step if 1 <= step <= _MOST_STEP else None


def _list(found: FoundField, values: tuple[int, ...]) -> FieldWriter:
    numbers = tuple(found.number_of(from_number(found.kind, value)) for value in values)
    return _writer(found, len(numbers), kind="list", values=numbers)


def _writer(found: FoundField, count: int, **how: object) -> FieldWriter:
    everything = (1 << 8 * found.width) - 1
    return FieldWriter(
        offset=found.offset,
        width=found.width,
        count=count,
        mask=None if found.mask == everything else found.mask,
        fixes=found.fixes,
        **how,  # type: ignore[arg-type]
    )
