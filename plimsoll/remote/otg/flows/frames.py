"""A flow's headers and sizes as templates for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.remote.otg.flows.headers import Header
from plimsoll.remote.otg.flows.pattern import Pattern
from plimsoll.remote.otg.model.published import placed_at, refused
from plimsoll.traffic.frames.field_finder import FoundField, find_field
from plimsoll.traffic.frames.field_values import from_number
from plimsoll.traffic.frames.packet import (
    MAX_FRAME_SIZE,
    build_frame,
    check_signable,
    fits,
    least_frame_size,
)
from plimsoll.traffic.frames.scapy_layers import Stack
from plimsoll.traffic.frames.vary import MAX_VALUES
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES, FieldWriter

# As many as the engine writes into a frame.
_MAX_FIELDS = 8
_MAX_TEMPLATE_BYTES = 4_000_000
_MAX_STEP = 2**32 - 1


@dataclass(frozen=True, slots=True)
class FlowFrames:
    """Templates, their order, the fields that change, and what is not as requested."""

    templates: tuple[bytes, ...]
    order: tuple[int, ...]
    fields: tuple[FieldWriter, ...]
    short_signature: bool
    notes: tuple[str, ...]


def make_frames(
    headers: Sequence[Header], sizes: Sequence[int], path: str, *, needs_times: bool
) -> FlowFrames:
    """The frames of a flow at a path of the request. Raises Refusal.

    Frames that are too short for their headers and our signature are made longer: with
    `needs_times`, which latency and timestamps do, the signature is 18 bytes long, else 12 do.
    """
    stack = tuple(header.built() for header in headers)
    with placed_at(f"{path}.packet"):
        check_signable(stack)
        signature_bytes = _signature_bytes(stack, sizes, needs_times=needs_times)
        fitting = [_fitting(stack, size, signature_bytes) for size in sizes]
    if max(fitting) > MAX_FRAME_SIZE:
        raise refused(f"{path}.size", f"{max(fitting)} bytes", f"give at most {MAX_FRAME_SIZE}")
    found: dict[bytes, int] = {}
    with placed_at(f"{path}.packet"):
        order = [
            found.setdefault(build_frame(stack, size, signature_bytes), len(found))
            for size in fitting
        ]
    if sum(map(len, found)) > _MAX_TEMPLATE_BYTES:
        raise refused(f"{path}.size", "too many sizes of long frames", "give fewer sizes")
    return FlowFrames(
        templates=tuple(found),
        order=() if order == list(range(len(order))) else tuple(order),
        fields=_writers(headers, stack, path),
        short_signature=signature_bytes < SIGNATURE_BYTES,
        notes=_notes(path, sizes, fitting),
    )


def _signature_bytes(stack: Stack, sizes: Sequence[int], *, needs_times: bool) -> int:
    full = all(fits(stack, size, SIGNATURE_BYTES) for size in sizes)
    return SIGNATURE_BYTES if full or needs_times else SHORT_SIGNATURE_BYTES


def _fitting(stack: Stack, size: int, signature_bytes: int) -> int:
    if fits(stack, size, signature_bytes):
        return size
    return max(size, least_frame_size(stack, signature_bytes))


def _notes(path: str, sizes: Sequence[int], fitting: Sequence[int]) -> tuple[str, ...]:
    longer = sorted(
        {(size, used) for size, used in zip(sizes, fitting, strict=True) if used != size}
    )
    if not longer:
        return ()
    size, used = longer[0]
    return (
        f"{path}.size: frames of {size} bytes have no room for their headers and the signature by "
        f"which they are counted: they are sent with {used} bytes",
    )


def _writers(headers: Sequence[Header], stack: Stack, path: str) -> tuple[FieldWriter, ...]:
    writers = []
    for index, header in enumerate(headers):
        for name, (pattern, place) in header.varied.items():
            with placed_at(place):
                writers.append(writer_of(stack, index, name, pattern))
    if len(writers) > _MAX_FIELDS:
        raise refused(
            f"{path}.packet", f"{len(writers)} fields vary", f"vary at most {_MAX_FIELDS}"
        )
    return tuple(writers)


# A pattern as the engine writes it: which values a field can take from frame to frame.
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
    if pattern.count > MAX_VALUES:
        raise InputError(
            f"{pattern.count} values in steps of {pattern.step}",
            remedy=f"give at most {MAX_VALUES} of them, or smaller steps upwards",
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
    return step if 1 <= step <= _MAX_STEP else None


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
