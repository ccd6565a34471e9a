"""A flow's headers and sizes as templates for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.remote.otg.flows.header import Header
from plimsoll.remote.otg.flows.writer import writer_of
from plimsoll.remote.otg.model.refusal import placed_at, refused
from plimsoll.traffic.frames.layers import Stack
from plimsoll.traffic.frames.packet import (
    MAX_FRAME_SIZE,
    build_frame,
    check_signable,
    fits,
    least_frame_size,
)
from plimsoll.traffic.plan import SHORT_SIGNATURE_BYTES, SIGNATURE_BYTES, FieldWriter

# As many as the engine writes into a frame.
_MOST_FIELDS = 8
_MOST_TEMPLATE_BYTES = 4_000_000


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
    if sum(map(len, found)) > _MOST_TEMPLATE_BYTES:
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
    if len(writers) > _MOST_FIELDS:
        raise refused(
            f"{path}.packet", f"{len(writers)} fields vary", f"vary at most {_MOST_FIELDS}"
        )
    return tuple(writers)
