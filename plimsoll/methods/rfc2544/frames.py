"""The frames of a standard test: one size after the other, or a mix."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from plimsoll.errors import InputError
from plimsoll.text.mistakes import describe_mistakes
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream

# RFC 2544 section 9.1, for Ethernet; bytes with FCS.
RECOMMENDED_SIZES = (64, 128, 256, 512, 1024, 1280, 1518)


@dataclass(frozen=True, slots=True)
class FrameSpec:
    """What all load frames of a test are: of one size in bytes with FCS, or a mix by name."""

    size: int | None = None
    imix: str | None = None

    @property
    def label(self) -> str:
        """As tables and the steps of a run name it: "64", or "imix simple"."""
        return f"imix {self.imix}" if self.size is None else str(self.size)

    def of(self, profile: Profile) -> Profile:
        """The profile's load streams with these frames, and nothing else.

        A standard test offers its load and no more: probes would be frames above the
        rate, and load frames carry time themselves. Raises InputError where a stream
        cannot have such frames.
        """
        return Profile(streams=tuple(self._stream(stream) for stream in profile.load_streams))

    def _stream(self, stream: Stream) -> Stream:
        if stream.pcap is not None:
            raise InputError(
                f"stream {stream.name} replays captured frames, which have their own sizes",
                where="profile.streams",
                remedy="use a stream whose frame_size can be set",
            )
        written = stream.model_dump(mode="json")
        try:
            return Stream.model_validate(written | {"frame_size": self.size, "imix": self.imix})
        except ValidationError as error:
            mistakes = describe_mistakes(error, Stream, "profile", lambda _: 0)
            raise InputError(
                f"stream {stream.name} cannot have frames of {self._in_words}: {mistakes.message}",
                where="profile.streams",
                remedy=mistakes.remedy or "leave this size out: --sizes",
            ) from None

    @property
    def _in_words(self) -> str:
        return f"{self.imix} mix" if self.size is None else f"{self.size} bytes"


def described_traffic(profile: Profile) -> str:
    """Protocol and format of the load streams, as RFC 2544 section 26.1 wants them reported."""
    return "; ".join(_described(stream) for stream in profile.load_streams)


def _described(stream: Stream) -> str:
    written = "a packet written layer by layer" if stream.packet is not None else stream.protocol
    flows = f"{stream.flows:,} flows" if stream.flows > 1 else "1 flow"
    version = stream.src_ip.version
    return f"{stream.name}: {written} over IPv{version}, {flows}, {stream.direction}"
