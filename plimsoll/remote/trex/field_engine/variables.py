"""The values that TRex's variables take from frame to frame, one after the other.

A variable holds the value before its first one until the first frame is made. A variable that
another names as its `next_var` goes on only when that one wraps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable

from plimsoll.remote.trex.field_engine.instructions import (
    FlowVariable,
    RepeatableRandom,
    TupleVariable,
    Variable,
)

_UNLIMITED = 1
_FIRST_UNLIMITED_PORT = 1025


class RandomNumbers:
    """The generator that TRex draws with: 15 bits of a linear congruence modulo 2^32."""

    def __init__(self, seed: int) -> None:
        self.state = seed % 2**32

    def bits(self, size: int) -> int:
        """A number of a variable of `size` bytes; of small ones it has 15 bits."""
        if size <= 2:
            return self._fifteen()
        if size == 4:
            return self._thirty_one()
        return (self._thirty_one() << 32) + self._thirty_one()

    def _thirty_one(self) -> int:
        return ((self._fifteen() << 16) + self._fifteen()) % 2**32

    def _fifteen(self) -> int:
        self.state = (214_013 * self.state + 2_531_011) % 2**32
        return (self.state >> 16) & 0x7FFF


class VariableState(ABC):
    """One variable; `values` by the names that it is written by."""

    values: dict[str, int]

    @abstractmethod
    def step(self) -> bool:
        """Take the next value; returns whether that began a new round."""

    @abstractmethod
    def state(self) -> Hashable:
        """What decides all values to come."""


class _Range(VariableState):
    def __init__(self, name: str, low: int, high: int, init: int, step: int, *, up: bool) -> None:
        self._name, self._low, self._high, self._up = name, low, high, up
        self._step = step if up else -step
        self._count = high - low + 1
        self._value = low + (init - low - self._step) % self._count
        self.values = {name: self._value}

    def step(self) -> bool:
        following = self._value + self._step
        wraps = not self._low <= following <= self._high
        self._value = self._low + (following - self._low) % self._count
        self.values[self._name] = self._value
        return wraps

    def state(self) -> Hashable:
        return self._value


class _List(VariableState):
    def __init__(self, name: str, listed: tuple[int, ...], step: int, *, up: bool) -> None:
        self._name, self._listed, self._step, self._up = name, listed, step, up
        # TRex goes down from the last.
        self._at = 0 if up else len(listed) - 1
        self.values = {name: listed[self._at]}

    def step(self) -> bool:
        size, at = len(self._listed), self._at
        wraps = at < self._step if self._up else at + self._step >= size
        self.values[self._name] = self._listed[at]
        self._at = (at + self._step if self._up else at - self._step) % size
        return wraps

    def state(self) -> Hashable:
        return self._at


class _Drawn(VariableState):
    def __init__(self, variable: FlowVariable, numbers: RandomNumbers) -> None:
        self._variable, self._numbers = variable, numbers
        self.values = {variable.name: 0}

    def step(self) -> bool:
        variable, number = self._variable, self._numbers.bits(self._variable.size)
        if variable.value_list is not None:
            value = variable.value_list[self._numbers.bits(2) % len(variable.value_list)]
        else:
            value = variable.min_value + number % (variable.max_value - variable.min_value + 1)
        self.values[variable.name] = value
        return True

    def state(self) -> Hashable:
        return self._numbers.state


class _Repeated(VariableState):
    def __init__(self, variable: RepeatableRandom) -> None:
        self._variable = variable
        self._numbers = RandomNumbers(variable.seed)
        self._taken = 0
        self.values = {variable.name: 0}

    def step(self) -> bool:
        variable = self._variable
        begins = self._taken == 0
        count = variable.max_value - variable.min_value + 1
        self.values[variable.name] = variable.min_value + self._numbers.bits(variable.size) % count
        self._taken += 1
        if self._taken == variable.limit:
            self._taken = 0
            self._numbers = RandomNumbers(variable.seed)
        return begins

    def state(self) -> Hashable:
        return self._taken, self._numbers.state


class _Tuple(VariableState):
    def __init__(self, variable: TupleVariable) -> None:
        self._variable = variable
        self._flow = 0
        self.values = {}
        self._take(variable.ip_min, variable.port_min)

    def step(self) -> bool:
        ip, port = self._following
        self.values = {f"{self._variable.name}.ip": ip, f"{self._variable.name}.port": port}
        self._flow += 1
        self._take(ip + 1, port)
        return True

    def _take(self, ip: int, port: int) -> None:
        """What the next frame has, where it would be so much."""
        variable = self._variable
        unlimited = variable.flags & _UNLIMITED
        if ip > variable.ip_max:
            ip, port = variable.ip_min, port + 1
        if unlimited and port > 0xFFFF:
            port = _FIRST_UNLIMITED_PORT
        elif not unlimited and port > variable.port_max:
            port = variable.port_min
        if not unlimited and variable.limit_flows and self._flow >= variable.limit_flows:
            self._flow, ip, port = 0, variable.ip_min, variable.port_min
        self._following = ip, port

    def state(self) -> Hashable:
        limited = self._variable.limit_flows and not self._variable.flags & _UNLIMITED
        return self._following, self._flow if limited else 0


def variable_state(variable: Variable, numbers: RandomNumbers) -> VariableState:
    """The variable before its first frame; `numbers` are those of its stream."""
    if isinstance(variable, TupleVariable):
        return _Tuple(variable)
    if isinstance(variable, RepeatableRandom):
        return _Repeated(variable)
    if variable.op == "random":
        return _Drawn(variable, numbers)
    up = variable.op == "inc"
    if variable.value_list is not None:
        return _List(variable.name, variable.value_list, variable.step, up=up)
    low, high = padded_range(variable)
    return _Range(variable.name, low, high, variable.init_value, variable.step, up=up)


def padded_range(variable: FlowVariable) -> tuple[int, int]:
    """From where to where a variable goes: lengthened to a whole number of steps, as by TRex.

    A range that cannot be, as it would go below 0, is what it was.
    """
    low, high, step = variable.min_value, variable.max_value, variable.step
    missing = -(high - low + 1) % step
    if variable.op == "inc":
        return low, high + missing
    return (low - missing if low >= missing else low), high


def all_values(states: Iterable[VariableState]) -> dict[str, int]:
    """Those of several variables, by name."""
    return {name: value for each in states for name, value in each.values.items()}
