"""What TRex's variables come to, as numbers that the engine can count or look up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plimsoll.remote.trex.field_engine.instructions import (
    FieldProgram,
    FlowVariable,
    RepeatableRandom,
    TupleVariable,
)
from plimsoll.remote.trex.field_engine.variables import RandomNumbers, padded_range, variable_state

# As the engine takes them.
MAX_LISTED = 4096
MAX_COUNTED = 2**24
_UNLIMITED = 1
_FIRST_UNLIMITED_PORT = 1025


@dataclass(frozen=True, slots=True)
class CountedSequence:
    """In frame n: base + step * (((first + n) // every) mod count)."""

    base: int
    step: int
    count: int
    first: int = 0
    every: int = 1


@dataclass(frozen=True, slots=True)
class ListedSequence:
    """In frame n: values[((first + n) // every) mod their number]."""

    values: tuple[int, ...]
    first: int = 0
    every: int = 1


@dataclass(frozen=True, slots=True)
class DrawnSequence:
    """In each frame: base + step * (a number below count), at random by `seed`."""

    base: int
    step: int
    count: int
    seed: int


ValueSequence = CountedSequence | ListedSequence | DrawnSequence


@dataclass(frozen=True, slots=True)
class Sequences:
    """Of each variable, by the name that it is written by, and what is not as with TRex."""

    by_name: dict[str, ValueSequence]
    notes: tuple[str, ...]


class NoSequence(Exception):
    """A variable whose values the engine can neither count nor list: why, for people."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """How often a variable that another one names goes on: in frame n, (first + n) // every."""

    every: int = 1
    first: int = 0


def sequences_of(program: FieldProgram, seed: int) -> Sequences:
    """The sequences of all variables. Raises NoSequence."""
    found: dict[str, ValueSequence] = {}
    notes: list[str] = []
    turn = _Turn()
    for number, each in enumerate(program.instructions):
        if isinstance(each, TupleVariable):
            found |= _tuple(each, notes)
        elif isinstance(each, FlowVariable | RepeatableRandom):
            sequence = _sequence(each, seed + number, notes)
            found[each.name] = _in_turn(sequence, turn)
            turn = _next_turn(each, sequence, turn)
    return Sequences(found, tuple(notes))


def _sequence(each: FlowVariable | RepeatableRandom, seed: int, notes: list[str]) -> ValueSequence:
    if isinstance(each, RepeatableRandom):
        return _repeated(each, seed, notes)
    if each.op == "random":
        return _drawn(each, seed, notes)
    if each.value_list is not None:
        return _list(each, len(each.value_list))
    return _range(each, notes)


def _range(each: FlowVariable, notes: list[str]) -> CountedSequence:
    low, high = padded_range(each)
    # A range that is no whole number of steps is gone through in another order each time.
    step = each.step
    size = high - low + 1
    count = size // math.gcd(size, step)
    if size % step:
        raise NoSequence(f"{each.name} goes below 0 for a whole number of steps")
    if each.op == "inc":
        base, first = low + (each.init_value - low) % step, (each.init_value - low) // step
    else:
        base, first = high - (high - each.init_value) % step, (high - each.init_value) // step
        step = -step
    return CountedSequence(
        base, step, _cut(each.name, count, notes), first % min(count, MAX_COUNTED)
    )


def _list(each: FlowVariable, size: int) -> ListedSequence:
    state = variable_state(each, RandomNumbers(0))
    values = []
    for _ in range(size // math.gcd(size, each.step)):
        state.step()
        values.append(state.values[each.name])
    return ListedSequence(_listable(each.name, values))


def _drawn(each: FlowVariable, seed: int, notes: list[str]) -> DrawnSequence | ListedSequence:
    if each.value_list is not None:
        # Drawn from a list: drawn ahead, so many that no one sees where they begin anew.
        state = variable_state(each, RandomNumbers(seed))
        values = []
        for _ in range(MAX_LISTED):
            state.step()
            values.append(state.values[each.name])
        return ListedSequence(tuple(values))
    count = each.max_value - each.min_value + 1
    return _drawn_between(each.name, each.min_value, count, seed, notes)


def _drawn_between(name: str, low: int, count: int, seed: int, notes: list[str]) -> DrawnSequence:
    step = -(-count // MAX_COUNTED)
    if step > 1:
        notes.append(f"{name}: drawn among {count // step} of {count} values, evenly spread")
    return DrawnSequence(low, step, count // step, seed)


def _repeated(each: RepeatableRandom, seed: int, notes: list[str]) -> ValueSequence:
    if each.limit > MAX_LISTED:
        notes.append(f"{each.name}: random without end, as a limit of {each.limit} is above 4096")
        count = each.max_value - each.min_value + 1
        return _drawn_between(each.name, each.min_value, count, seed, notes)
    state = variable_state(each, RandomNumbers(seed))
    values = []
    for _ in range(each.limit):
        state.step()
        values.append(state.values[each.name])
    return ListedSequence(tuple(values))


def _tuple(each: TupleVariable, notes: list[str]) -> dict[str, ValueSequence]:
    """Addresses count; ports go on each time that these begin anew."""
    addresses = each.ip_max - each.ip_min + 1
    low, ports = each.port_min, each.port_max - each.port_min + 1
    limit = each.limit_flows
    if each.flags & _UNLIMITED:
        low, ports, limit = _FIRST_UNLIMITED_PORT, 2**16 - _FIRST_UNLIMITED_PORT, 0
    if limit and limit < addresses:
        addresses, ports = limit, 1
    elif limit:
        rounds = min(ports, limit // addresses)
        if rounds < ports and limit % addresses:
            notes.append(
                f"{each.name}: {rounds * addresses} of {limit} flows, a whole number of rounds"
            )
        ports = rounds
    addresses = _cut(f"{each.name}.ip", addresses, notes)
    return {
        f"{each.name}.ip": CountedSequence(each.ip_min, 1, addresses),
        f"{each.name}.port": CountedSequence(low, 1, ports, every=addresses),
    }


def _in_turn(sequence: ValueSequence, turn: _Turn) -> ValueSequence:
    if turn == _Turn():
        return sequence
    if isinstance(sequence, DrawnSequence):
        raise NoSequence("a random variable cannot wait for another one")
    if isinstance(sequence, ListedSequence) and turn.first:
        raise NoSequence("a list waits for a variable that begins within its range")
    count = sequence.count if isinstance(sequence, CountedSequence) else len(sequence.values)
    first = (sequence.first * turn.every + turn.first) % (count * turn.every)
    if isinstance(sequence, CountedSequence):
        return CountedSequence(sequence.base, sequence.step, count, first, turn.every)
    return ListedSequence(sequence.values, first, turn.every)


def _next_turn(
    each: FlowVariable | RepeatableRandom, sequence: ValueSequence, turn: _Turn
) -> _Turn:
    """How often the variable that this one names goes on: once for each of its rounds."""
    if not each.next_var:
        return _Turn()
    if isinstance(sequence, DrawnSequence):
        raise NoSequence(f"{each.name}, which is random, never completes a round")
    if isinstance(each, FlowVariable) and each.value_list is not None and each.step > 1:
        raise NoSequence(f"{each.name} wraps several times before its list begins anew")
    count = sequence.count if isinstance(sequence, CountedSequence) else len(sequence.values)
    every = count * turn.every
    first = sequence.first * turn.every + turn.first
    # One that does not begin with a round lets the next keep what it had before its first.
    return _Turn(every, first - every if sequence.first else first)


def _cut(name: str, count: int, notes: list[str]) -> int:
    if count > MAX_COUNTED:
        notes.append(f"{name}: begins anew after {MAX_COUNTED} of {count} values")
    return min(count, MAX_COUNTED)


def _listable(name: str, values: list[int]) -> tuple[int, ...]:
    if len(values) > MAX_LISTED:
        raise NoSequence(f"{name} lists {len(values)} values, more than {MAX_LISTED}")
    return tuple(values)
