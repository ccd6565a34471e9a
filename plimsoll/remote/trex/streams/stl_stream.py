"""A stateless stream of TRex's, as its client sends it."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.remote.trex.field_engine.instructions import FieldProgram
from plimsoll.text.mistakes import mistake

# Ethernet's header; TRex refuses shorter packets as well.
_MIN_BYTES = 14
# Longer ones than the engine sends are refused where their length is known in full.
_MAX_BYTES = 16_384
_MAX_TEXT = 4 * _MAX_BYTES // 3 + 8

_SRC_MAC_OF_PACKET = 0x1
_DST_MAC_OF_PACKET = 0x2
_DST_MAC_MODE = 0x6
_DUMMY = 0x8

_Microseconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
_Frames = Annotated[int, Field(ge=1, lt=2**32)]


def _decoded(given: object) -> bytes:
    if not isinstance(given, str) or len(given) > _MAX_TEXT:
        raise mistake("the packet is no base64, or too long", "send what TRex's client does")
    try:
        packet = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        raise mistake("the packet is not base64", "send what TRex's client does") from None
    if not _MIN_BYTES <= len(packet) <= _MAX_BYTES:
        problem = f"the packet has {len(packet)} bytes"
        raise mistake(problem, f"give {_MIN_BYTES} to {_MAX_BYTES}")
    return packet


class _Part(BaseModel):
    """What we do not know comes from a newer client, and is ignored as TRex does."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class StlRate(_Part):
    """How fast frames leave, in one of TRex's units."""

    type: Literal["pps", "bps_L1", "bps_L2", "percentage"]
    value: Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]


class Continuous(_Part):
    """Frames without end."""

    type: Literal["continuous"]
    rate: StlRate


class SingleBurst(_Part):
    """So many frames."""

    type: Literal["single_burst"]
    rate: StlRate
    total_pkts: _Frames


class MultiBurst(_Part):
    """Bursts, `ibg` us from the last frame of one to the first of the next; without end for 0."""

    type: Literal["multi_burst"]
    rate: StlRate
    pkts_per_burst: _Frames
    ibg: _Microseconds
    count: Annotated[int, Field(ge=0, lt=2**32)]


StlMode = Annotated[Continuous | SingleBurst | MultiBurst, Field(discriminator="type")]


class Packet(_Part):
    """The packet, without FCS."""

    binary: Annotated[bytes, BeforeValidator(_decoded)]
    meta: str = ""


class FlowStatistics(_Part):
    """Whether and under which packet group a stream is counted."""

    enabled: bool = False
    stream_id: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    rule_type: Literal["stats", "latency", "tpg"] | None = None
    vxlan: bool = False
    ieee_1588: bool = False


def _not_tagged(statistics: FlowStatistics) -> FlowStatistics:
    if not statistics.enabled:
        return statistics
    if statistics.rule_type == "tpg":
        problem = "tagged packet groups (rule_type tpg) are counted by tags, which we do not"
        raise mistake(problem, "use STLFlowStats or STLFlowLatencyStats")
    if statistics.ieee_1588:
        problem = "ieee_1588: latencies by PTP packets of the port are not measured"
        raise mistake(problem, "use STLFlowLatencyStats without ieee_1588")
    if statistics.stream_id is None or statistics.rule_type is None:
        raise mistake("a packet group has no stream_id or rule_type", "give both")
    return statistics


class StlStream(_Part):
    """One stream. `isg` is how long it waits before its first frame, in us."""

    enabled: bool
    self_start: bool
    start_paused: bool = False
    isg: _Microseconds = 0.0
    flags: Annotated[int, Field(ge=0, lt=2**16)] = 0
    action_count: Annotated[int, Field(ge=0, lt=2**32)] = 0
    next_stream_id: Annotated[int, Field(ge=-1, lt=2**32)] = -1
    random_seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    mode: StlMode
    packet: Packet
    vm: FieldProgram = FieldProgram()
    flow_stats: Annotated[FlowStatistics, AfterValidator(_not_tagged)] = FlowStatistics()

    @property
    def packet_group(self) -> int | None:
        """The number by which its counts are requested."""
        return self.flow_stats.stream_id if self.flow_stats.enabled else None

    @property
    def timed(self) -> bool:
        """Whether latencies are measured, so that its rate is fixed."""
        return self.flow_stats.enabled and self.flow_stats.rule_type == "latency"

    @property
    def is_delay(self) -> bool:
        """Whether it only passes time, and sends nothing."""
        return bool(self.flags & _DUMMY)

    def addressed(self, src_mac: bytes, dst_mac: bytes) -> bytes:
        """The packet with the port's addresses, where the stream does not insist on its own."""
        packet = bytearray(self.packet.binary)
        if self.flags & _DST_MAC_MODE != _DST_MAC_OF_PACKET:
            packet[:6] = dst_mac
        if not self.flags & _SRC_MAC_OF_PACKET:
            packet[6:12] = src_mac
        return bytes(packet)
