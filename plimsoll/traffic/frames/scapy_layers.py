"""Scapy's layers by name: as written down, and loaded when the first frame is built.

Left to itself, an import of Scapy asks the kernel for interfaces and routes over
sockets, makes folders in the user's home and keeps pickles there. None of that is needed
to build frames. The files in which users configure Scapy are read by its own shell only.

A packet as written down: layers by Scapy's names with the fields that were given. Nothing here
needs Scapy; packet.py builds what is written.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean

# What Scapy's packets, fields and modules hold is known at run time only.
Scapy = Any

# Enough for the frames of a packet dataplane; every further module costs time to load.
_MODULES = (
    "scapy.layers.l2",
    "scapy.layers.inet",
    "scapy.layers.inet6",
    "scapy.layers.vxlan",
    "scapy.contrib.geneve",
    "scapy.contrib.gtp",
    "scapy.contrib.mpls",
)
_ETHERTYPE_MPLS = 0x8847


def layer_class(name: str) -> Scapy:
    """Scapy's class for a layer. Raises InputError, without a place, for one not in the list."""
    if name.upper().startswith("SCTP"):
        raise InputError(
            "SCTP cannot be sent: its CRC32c would have to be computed for every frame",
            remedy="use UDP or TCP",
        )
    classes = _layer_classes()
    if name not in classes:
        general = "use Scapy's names, such as Ether, Dot1Q, IP, IPv6, UDP, TCP, VXLAN"
        raise InputError(f"unknown layer {name!r}", remedy=did_you_mean(name, classes, general))
    return classes[name]


def scapy_module(name: str) -> Scapy:
    """One of Scapy's modules, such as "scapy.fields", imported as the layers are."""
    _layer_classes()
    return importlib.import_module(name)


@functools.cache
def _layer_classes() -> Mapping[str, Scapy]:
    with _quiet_and_off_the_network():
        modules = [importlib.import_module(name) for name in _MODULES]
    packet: Scapy = importlib.import_module("scapy.packet")
    classes = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if _is_layer(value, packet.Packet) and value.__module__ == module.__name__
    }
    # Scapy knows MPLS behind plain Ethernet only.
    for tag in ("Dot1Q", "Dot1AD"):
        packet.bind_layers(classes[tag], classes["MPLS"], type=_ETHERTYPE_MPLS)
    return classes | {"Raw": packet.Raw}


def _is_layer(value: object, packet: type) -> bool:
    return isinstance(value, type) and issubclass(value, packet) and value.__name__[0] != "_"


@contextmanager
def _quiet_and_off_the_network() -> Iterator[None]:
    logging.getLogger("scapy").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _without_user_folders():
            main: Scapy = importlib.import_module("scapy.main")
        main.SCAPY_CACHE_FOLDER = None
        conf: Scapy = importlib.import_module("scapy.config").conf
        conf.route_autoload = conf.route6_autoload = False
        importlib.import_module("scapy.interfaces")
        interfaces = conf.ifaces
        interfaces.reload = lambda: None
        try:
            yield
        finally:
            del interfaces.reload


@contextmanager
def _without_user_folders() -> Iterator[None]:
    """Scapy makes its folders where these variables point, and some versions insist on it."""
    names = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, os.devnull))
    try:
        yield
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


# Text, numbers, lists of them (as tuples), and null for "as Scapy has it".
FieldValue = int | str | None | tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; fields that are not given are Scapy's defaults."""

    name: str
    fields: tuple[tuple[str, FieldValue], ...] = ()

    def get(self, field: str) -> FieldValue:
        """A field's value, or None where none is given."""
        return dict(self.fields).get(field)

    def replaced(self, changes: Mapping[str, FieldValue]) -> Layer:
        """The same with other fields."""
        return Layer(self.name, tuple((dict(self.fields) | dict(changes)).items()))


# From the outermost layer inwards.
Stack = tuple[Layer, ...]


def layer(name: str, **fields: FieldValue) -> Layer:
    """A layer, as Scapy's own notation has it."""
    return Layer(name, tuple(fields.items()))


def last_index(stack: Stack, *names: str) -> int | None:
    """Where the innermost layer of one of these names is."""
    found = [index for index, each in enumerate(stack) if each.name in names]
    return found[-1] if found else None


def transport_index(stack: Stack) -> int | None:
    """Where the TCP or UDP is that carries the payload itself, and not another packet."""
    carriers = [index for index, each in enumerate(stack) if each.name != "Raw"]
    innermost = carriers[-1] if carriers else None
    return innermost if innermost is not None and stack[innermost].name in ("TCP", "UDP") else None
