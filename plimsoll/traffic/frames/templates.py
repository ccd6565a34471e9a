"""A stream's frames as bytes: templates, their order, and the fields that change."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol

from plimsoll.errors import InputError
from plimsoll.traffic.frames.capture import PacketCapture
from plimsoll.traffic.frames.field_writers import field_writers
from plimsoll.traffic.frames.layers import Stack
from plimsoll.traffic.frames.packet import build_frame, check_signable
from plimsoll.traffic.frames.vary import Variation
from plimsoll.traffic.imix import LONGEST_SEQUENCE
from plimsoll.traffic.plan import FieldWriter


class FrameSource(Protocol):
    """What templates need to know of a stream. Hashable, for they are cached by it."""

    @property
    def capture(self) -> PacketCapture | None:
        """The frames to replay, instead of all that follows."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Frame sizes with FCS, in the order of sending."""

    @property
    def signature_bytes(self) -> int:
        """How many of a frame's last bytes the signature takes."""

    @property
    def flows(self) -> int:
        """After how many frames the fields that vary repeat."""

    @property
    def vary(self) -> tuple[str | Variation, ...]:
        """The fields in which the frames of different flows differ."""

    def stacks(self, *, reverse: bool) -> tuple[Stack, ...]:
        """The packets that take turns in one direction."""


@dataclass(frozen=True, slots=True)
class Templates:
    """As in StreamPlan."""

    frames: tuple[bytes, ...]
    order: tuple[int, ...]
    fields: tuple[FieldWriter, ...]


@functools.lru_cache(maxsize=256)
def templates(stream: FrameSource, *, reverse: bool) -> Templates:
    """The frames of one direction; cached, for every trial of a search sends the same.

    Raises InputError for what cannot be sent.
    """
    capture = stream.capture
    if capture is not None:
        return Templates(capture.frames, _unless_in_turn(capture.order), ())
    stacks = stream.stacks(reverse=reverse)
    for stack in stacks:
        check_signable(stack)
    frames: dict[bytes, int] = {}
    # Packets that take turns do so within each size, so that none is of one size only.
    order = [
        frames.setdefault(build_frame(stack, size, stream.signature_bytes), len(frames))
        for size in stream.sizes
        for stack in stacks
    ]
    if len(order) > LONGEST_SEQUENCE:
        raise InputError(
            f"{len(order)} frames pass until they repeat", remedy="use a shorter mix of sizes"
        )
    # Packets that take turns have the same layers, so their fields are at the same places.
    fields = field_writers(stacks[0], stream.vary, stream.flows)
    return Templates(tuple(frames), _unless_in_turn(tuple(order)), fields)


def _unless_in_turn(order: tuple[int, ...]) -> tuple[int, ...]:
    """Templates take turns by themselves."""
    return () if order == tuple(range(len(order))) else order
