"""The settings of an RFC 2544 run: the standard's own durations, or shorter ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from plimsoll.errors import InputError
from plimsoll.text.mistakes import describe_mistakes
from plimsoll.text.named_program import RunCommand
from plimsoll.text.units import RateField
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


Test = Literal["throughput", "latency", "frame-loss", "back-to-back", "recovery", "reset"]
TESTS: tuple[Test, ...] = get_args(Test)

Fraction = Annotated[float, Field(gt=0, le=1)]
PositiveSeconds = Annotated[float, Field(gt=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ThroughputSettings(_Part):
    """A bisection with trials of `search_s`, until its bounds are `granularity` apart.

    What it finds must then pass a trial of `final_s` (section 24). At most `loss_ratio` is
    lost in either: the standard's is none.
    """

    search_s: PositiveSeconds = 10.0
    final_s: PositiveSeconds = 60.0
    granularity: Fraction = 0.01
    loss_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.0


class LatencySettings(_Part):
    """Streams of `stream_s`, of each of which the frame sent after `tag_s` is timed."""

    stream_s: PositiveSeconds = 120.0
    tag_s: Annotated[float, Field(gt=0, le=100)] = 60.0
    repeats: PositiveInt = 20


class FrameLossSettings(_Part):
    """Trials of `trial_s`, the load lower by `step` of the maximum each time."""

    trial_s: PositiveSeconds = 60.0
    step: Annotated[float, Field(ge=0.001, le=0.1)] = 0.1


class BurstSettings(_Part):
    """Searches for the longest burst without loss, none longer than `limit_s` takes to send.

    Each ends when its bounds are `granularity` of the upper one apart, or `step_frames`. A
    burst that lost frames is sent up to `verifications` times more before it counts.
    """

    limit_s: Annotated[float, Field(ge=0.001, le=30)] = 2.0
    granularity: Fraction = 0.01
    step_frames: PositiveInt = 1
    verifications: Annotated[int, Field(ge=0)] = 0
    repeats: PositiveInt = 50


class RecoverySettings(_Part):
    """Overload for `overload_s`, then half of it, watched for `watch_s`."""

    overload_s: PositiveSeconds = 60.0
    watch_s: PositiveSeconds = 30.0
    repeats: PositiveInt = 5


class ResetSettings(_Part):
    """A command that resets the DUT, run after `before_s` of a stream that then goes on."""

    command: Annotated[tuple[str, ...], RunCommand()] = ()
    before_s: PositiveSeconds = 10.0
    watch_s: PositiveSeconds = 110.0


class FrameTestSettings(_Part):
    """What tests over several frame sizes share.

    `maximum` is 100 % where the lab has no line rate to compute it from; by default the
    experiment's highest load. After a trial residual frames have `residual_s` to come in,
    and the DUT `settle_s` to come to rest (RFC 2544 section 23).
    """

    quick: bool = False
    sizes: tuple[int, ...] = RECOMMENDED_SIZES
    maximum: RateField | None = None
    residual_s: Annotated[float, Field(ge=0)] = 2.0
    settle_s: Annotated[float, Field(ge=0)] = 5.0
    throughput: ThroughputSettings = ThroughputSettings()

    @property
    def frames(self) -> tuple[FrameSpec, ...]:
        """Of each test: every size."""
        return tuple(FrameSpec(size) for size in self.sizes)


# Too short to rely on, long enough to show that everything works.
QUICK_THROUGHPUT = ThroughputSettings(search_s=0.5, final_s=2.0, granularity=0.1)
QUICK_BURSTS = BurstSettings(limit_s=0.2, granularity=0.1, repeats=2)


class Rfc2544Settings(FrameTestSettings):
    """The tests, which are run in the standard's order; `imix` takes the place of sizes."""

    tests: Annotated[tuple[Test, ...], Field(min_length=1)] = TESTS
    imix: str | None = None
    latency: LatencySettings = LatencySettings()
    frame_loss: FrameLossSettings = FrameLossSettings()
    back_to_back: BurstSettings = BurstSettings()
    recovery: RecoverySettings = RecoverySettings()
    reset: ResetSettings = ResetSettings()

    @classmethod
    def quickly(cls) -> Self:
        """Durations for demos and CI, which fall short of the standard's; results say so."""
        return cls(
            quick=True,
            residual_s=0.0,
            settle_s=0.0,
            throughput=QUICK_THROUGHPUT,
            latency=LatencySettings(stream_s=2.0, tag_s=1.0, repeats=2),
            frame_loss=FrameLossSettings(trial_s=1.0),
            back_to_back=QUICK_BURSTS,
            recovery=RecoverySettings(overload_s=2.0, watch_s=2.0, repeats=1),
            reset=ResetSettings(before_s=1.0, watch_s=10.0),
        )

    @property
    def frames(self) -> tuple[FrameSpec, ...]:
        """Of each test: every size, or the mix where one is requested."""
        return super().frames if self.imix is None else (FrameSpec(imix=self.imix),)
