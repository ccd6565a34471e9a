"""Scapy's layers by name: loaded when the first frame is built, quiet and off the network.

Left to itself, an import of Scapy asks the kernel for interfaces and routes over
sockets, makes folders in the user's home and keeps pickles there. None of that is needed
to build frames. The files in which users configure Scapy are read by its own shell only.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
