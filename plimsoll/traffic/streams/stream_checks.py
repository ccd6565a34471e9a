"""Whether a stream can be sent as described: as mistakes in the stream's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.errors import InputError
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.field_writers import check_room, templates, writers_of
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, check_signable, fits, suitable_sizes
from plimsoll.traffic.frames.scapy_layers import Stack

if TYPE_CHECKING:
    from plimsoll.traffic.streams.stream import Stream

_OTHER_END = {"src": "dst", "dst": "src"}


def check_content(stream: Stream) -> None:
    """Build the stream's frames in each of its directions; raises a mistake."""
    if stream.pcap is not None:
        _check_capture(stream)
        return
    if stream.flows > 1 and not stream.vary:
        problem = f"{stream.flows} flows differ in no field"
        raise mistake(problem, "list one, such as dst_ip", "vary")
    for reverse in stream.goes:
        for stack in _stacks(stream, reverse=reverse):
            _check_sizes(stream, stack)
            _check_vary(stream, stack, reverse=reverse)
        try:
            templates(stream, reverse=reverse)
        except InputError as error:
            raise mistake(error.message, error.remedy, "vary") from None


def _check_capture(stream: Stream) -> None:
    if stream.flows > 1:
        problem = "captured frames are sent as they are, and have no flows"
        raise mistake(problem, "remove it, or pcap", "flows")
    try:
        templates(stream, reverse=False)
    except InputError as error:
        raise mistake(f"{error.where}: {error.message}", error.remedy, "pcap") from None
    try:
        stream.planned_pacing  # noqa: B018 - reads the time stamps
    except InputError as error:
        raise mistake(f"{error.where}: {error.message}", error.remedy, "pacing") from None


def _stacks(stream: Stream, *, reverse: bool) -> tuple[Stack, ...]:
    written = "reverse_packet" if reverse and stream.reverse_packet else "packet"
    field = "protocol" if stream.packet is None else written
    try:
        stacks = stream.stacks(reverse=reverse)
        for stack in stacks:
            check_signable(stack)
    except InputError as error:
        raise mistake(error.message, error.remedy, field) from None
    return stacks


def _check_sizes(stream: Stream, stack: Stack) -> None:
    field = "frame_size" if stream.imix is None else "imix"
    for size in sorted(set(stream.sizes)):
        if not fits(stack, size, stream.signature_bytes):
            raise mistake(
                f"{size} bytes are too few for the headers, signature and FCS of {stream.name}",
                f"give {suitable_sizes(stack, stream.signature_bytes)}",
                field,
            )
    if stream.largest_frame_size > MAX_FRAME_SIZE:
        raise mistake(
            f"{stream.largest_frame_size} bytes are more than a frame of {stream.name} may have",
            f"give at most {MAX_FRAME_SIZE} bytes",
            field,
        )


def _check_vary(stream: Stream, stack: Stack, *, reverse: bool) -> None:
    for index, each in enumerate(stream.vary):
        if isinstance(each, str) and stream.flows == 1:
            continue
        try:
            writers_of(stack, each, stream.flows)
        except InputError as error:
            way = "on the way back, " if reverse else ""
            raise mistake(f"{way}{error.message}", error.remedy, "vary", index) from None
    for name in stream.vary if stream.flows > 1 else ():
        if not isinstance(name, str) or "." in name:
            continue
        # In reverse the varying starts from the other end's address.
        shown = _OTHER_END.get(name[:3], name[:3]) + name[3:] if reverse else name
        try:
            check_room(stack, name, shown, stream.flows, stream.prefix)
        except InputError as error:
            raise mistake(error.message, error.remedy, "flows") from None
