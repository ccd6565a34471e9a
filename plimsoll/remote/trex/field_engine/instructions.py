"""TRex's field engine: the instructions that a stream's frames are made by, as they are sent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from plimsoll.text.mistakes import mistake

MAX_INSTRUCTIONS = 256
_MAX_VALUES = 65_535

_Name = Annotated[str, Field(min_length=1, max_length=256)]
_Offset = Annotated[int, Field(ge=0, le=65_535)]
_Value = Annotated[int, Field(ge=0, lt=2**64)]
_Addend = Annotated[int, Field(ge=-(2**31), lt=2**31)]
VariableSize = Literal[1, 2, 4, 8]


class _Instruction(BaseModel):
    """Fields that we do not know are those of a newer client, and ignored as TRex does."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class FlowVariable(_Instruction):
    """A variable that is stepped through a range or a list, or random, from frame to frame."""

    type: Literal["flow_var"]
    name: _Name
    size: VariableSize
    op: Literal["inc", "dec", "random"]
    step: Annotated[int, Field(ge=1, lt=2**64)]
    init_value: _Value = 0
    min_value: _Value = 0
    max_value: _Value = 0
    value_list: Annotated[tuple[_Value, ...], Field(max_length=_MAX_VALUES)] | None = None
    next_var: str | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> FlowVariable:
        limit = 2 ** (8 * self.size)
        if self.value_list is not None:
            if not self.value_list or max(self.value_list) >= limit:
                raise mistake(f"{self.name}: values beyond {self.size} bytes, or none", "list some")
            if self.step > len(self.value_list):
                raise mistake(
                    f"{self.name}: the step is longer than the list", "give a shorter one"
                )
        elif not self.min_value <= self.init_value <= self.max_value < limit:
            problem = f"{self.name}: not min_value <= init_value <= max_value < 2^{8 * self.size}"
            raise mistake(problem, "give values in this order")
        return self


class RepeatableRandom(_Instruction):
    """Random values between two others that begin anew after `limit` of them."""

    type: Literal["flow_var_rand_limit"]
    name: _Name
    size: VariableSize
    limit: Annotated[int, Field(ge=1, lt=2**64)]
    seed: _Value
    min_value: _Value
    max_value: _Value
    next_var: str | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> RepeatableRandom:
        if not self.min_value <= self.max_value < 2 ** (8 * self.size):
            problem = f"{self.name}: not min_value <= max_value < 2^{8 * self.size}"
            raise mistake(problem, "give values in this order")
        return self


class TupleVariable(_Instruction):
    """Addresses `name`.ip, and ports `name`.port that go on by one as the addresses wrap."""

    type: Literal["tuple_flow_var"]
    name: _Name
    ip_min: Annotated[int, Field(ge=0, lt=2**32)]
    ip_max: Annotated[int, Field(ge=0, lt=2**32)]
    port_min: Annotated[int, Field(ge=0, lt=2**16)]
    port_max: Annotated[int, Field(ge=0, lt=2**16)]
    limit_flows: Annotated[int, Field(ge=0, lt=2**32)] = 0
    flags: Annotated[int, Field(ge=0, lt=2**16)] = 0

    @model_validator(mode="after")
    def _is_consistent(self) -> TupleVariable:
        if self.ip_min > self.ip_max or self.port_min > self.port_max:
            raise mistake(f"{self.name}: a minimum is above its maximum", "exchange them")
        return self


class WriteVariable(_Instruction):
    """Writes a variable, in full, into the frame."""

    type: Literal["write_flow_var"]
    name: _Name
    pkt_offset: _Offset
    add_value: _Addend = 0
    is_big_endian: bool = True


class WriteMaskedVariable(_Instruction):
    """Writes those bits of a variable, shifted, into the frame that a mask names."""

    type: Literal["write_mask_flow_var"]
    name: _Name
    pkt_offset: _Offset
    pkt_cast_size: Literal[1, 2, 4]
    mask: Annotated[int, Field(ge=0, lt=2**32)]
    shift: Annotated[int, Field(ge=-32, le=32)]
    add_value: _Addend = 0
    is_big_endian: bool = True


class FixIpv4Checksum(_Instruction):
    """Computes the checksum of the IPv4 header at `pkt_offset`."""

    type: Literal["fix_checksum_ipv4"]
    pkt_offset: _Offset


class FixHardwareChecksum(_Instruction):
    """Computes the checksums of an IP header and of UDP (11) or TCP (13) behind it, or IP (17)."""

    type: Literal["fix_checksum_hw"]
    l2_len: _Offset
    l3_len: _Offset
    l4_type: Annotated[int, Field(ge=0, lt=2**16)]


class FixIcmpv6Checksum(_Instruction):
    """Computes the checksum of ICMPv6."""

    type: Literal["fix_checksum_icmpv6"]
    l2_len: _Offset
    l3_len: _Offset


class TrimPacket(_Instruction):
    """Cuts the frame to the length, without FCS, that a variable has."""

    type: Literal["trim_pkt_size"]
    name: _Name


Variable = FlowVariable | RepeatableRandom | TupleVariable
Write = WriteVariable | WriteMaskedVariable
Instruction = Annotated[
    FlowVariable
    | RepeatableRandom
    | TupleVariable
    | WriteVariable
    | WriteMaskedVariable
    | FixIpv4Checksum
    | FixHardwareChecksum
    | FixIcmpv6Checksum
    | TrimPacket,
    Field(discriminator="type"),
]


class FieldProgram(BaseModel):
    """The instructions, which run in their order for each frame.

    `cache`, frames that TRex makes ahead, is of no account here: frames are made as they leave.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    instructions: Annotated[tuple[Instruction, ...], Field(max_length=MAX_INSTRUCTIONS)] = ()
    cache: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _names_are_known(self) -> FieldProgram:
        sizes = self.sizes
        for index, each in enumerate(self.instructions):
            match each:
                case (
                    WriteVariable(name=name)
                    | WriteMaskedVariable(name=name)
                    | TrimPacket(name=name)
                ):
                    if name not in sizes:
                        problem = f"{each.type}: no variable is named {name!r}"
                        raise mistake(problem, "name one of the program's", "instructions", index)
                case (
                    FlowVariable(next_var=str(following))
                    | RepeatableRandom(next_var=str(following))
                ):
                    self._check_next(index, following)
        return self

    def _check_next(self, index: int, following: str) -> None:
        behind = self.instructions[index + 1 : index + 2]
        if following and (not behind or getattr(behind[0], "name", None) != following):
            problem = f"next_var {following!r} is not the next instruction"
            raise mistake(problem, "put it there", "instructions", index)

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each variable, by the name that it is written by."""
        found: dict[str, int] = {}
        for each in self.instructions:
            if isinstance(each, TupleVariable):
                found |= {f"{each.name}.ip": 4, f"{each.name}.port": 2}
            elif isinstance(each, FlowVariable | RepeatableRandom):
                found[each.name] = each.size
        return found

    @property
    def trims(self) -> bool:
        """Whether frames differ in length."""
        return any(isinstance(each, TrimPacket) for each in self.instructions)

    @property
    def draws(self) -> bool:
        """Whether some variable is random without end."""
        return any(isinstance(e, FlowVariable) and e.op == "random" for e in self.instructions)
