"""A stream: one kind of traffic that a profile sends, in Plimsoll's own form."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from plimsoll.errors import InputError
from plimsoll.traffic.addresses import Endpoint, IpField, MacField, PortField
from plimsoll.traffic.capture import MOST_FRAMES, Capture, load_capture
from plimsoll.traffic.encapsulation import Gtpu, MplsLabels, VlanTags, Vxlan
from plimsoll.traffic.imix import Imix, check_mix, sizes_in_order
from plimsoll.traffic.layers import Stack
from plimsoll.traffic.mistakes import mistake
from plimsoll.traffic.pacing import PacingField
from plimsoll.traffic.packet import MAX_FRAME_SIZE, check_signable, least_frame_size
from plimsoll.traffic.plain_packet import Protocol, plain_stacks
from plimsoll.traffic.plan import Pacing, Role
from plimsoll.traffic.stack_ends import reversed_stack, with_addresses
from plimsoll.traffic.units import RateField
from plimsoll.traffic.value_room import check_room
from plimsoll.traffic.vary import MOST_FLOWS, Varied, Variation, check_name
from plimsoll.traffic.field_writers import field_writers, writers_of
from plimsoll.traffic.written_packet import PacketField

Direction = Literal["bidirectional", "unidirectional", "revunidirectional"]
StreamType = Literal["measurement", "teaching_warmup", "teaching_measurement", "ddos"]

# RFC 2544's addresses for benchmarks (198.18.0.0/15) and RFC 5180's (2001:2::/48).
DEFAULT_IPS = {4: ("198.18.0.1", "198.19.0.1"), 6: ("2001:2:0:1::1", "2001:2:0:2::1")}
_DEFAULT_PREFIX = {4: 16, 6: 64}
_DEFAULT_FRAME_SIZE = 64
_ADDRESS_BITS = {4: 32, 6: 128}
# Without these a frame is sent as it is written or was captured.
_PLAIN_ONLY = ("vlan", "mpls", "vxlan", "gtpu")
