"""The few commands whose output the audit reads, where no file of the kernel tells the same.

A command is named as it is typed. Nothing outside these forms is ever run, and what
stands for an argument is checked to be a name that no option can hide in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# What may stand for the word in angle brackets. An interface's name as the kernel takes it
# (15 characters), less the leading "-" of an option; services are listed.
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}", re.ASCII)
SERVICES = (
    "tuned",
    "irqbalance",
    "stalld",
    "chronyd",
    "fwupd-refresh.timer",
    "ksm",
    "ksmtuned",
    "kubelet",
    "crio",
)

# The form, and what it tells that files do not.
FORMS: Mapping[str, str] = {
    "tuned-adm active": "the tuned profile",
    "tuned-adm verify": "whether the settings are still the profile's",
    "systemctl is-active <service>": "whether a service or timer runs",
    "systemctl is-enabled <service>": "whether it will after the next boot",
    "ethtool -i <interface>": "driver and firmware",
    "ethtool -a <interface>": "pause frames",
    "ethtool -k <interface>": "offloads",
    "ethtool -g <interface>": "ring sizes",
    "ethtool -l <interface>": "numbers of queues",
    "ethtool -c <interface>": "interrupt coalescing",
    "ethtool --show-priv-flags <interface>": "the driver's own switches",
    "ip -details -json link show dev <interface>": "the VFs' trust, spoof check and VLAN",
    "devlink dev info": "firmware and DDP packages",
    "lspci -D -vv": "PCIe read requests and link control, to root",
}


def check_command(command: str) -> tuple[str, ...]:
    """The argument vector of a command of the fixed forms; raises ValueError for others."""
    form_of(command)
    return tuple(command.split(" "))


def form_of(command: str) -> str:
    """The form that it is of; raises ValueError for one of none."""
    form = _form(command)
    if form is None:
        raise ValueError(f"{command!r} is not one of the commands that are read")
    return form


def is_command(text: str) -> bool:
    """Whether it is a command of the fixed forms."""
    return _form(text) is not None


def commands_of(form: str, interfaces: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The commands of a form: one for each service or each of `interfaces` it is about."""
    if "<service>" in form:
        return tuple(form.replace("<service>", service) for service in SERVICES)
    if "<interface>" in form:
        usable = (name for name in interfaces if _INTERFACE.fullmatch(name))
        return tuple(form.replace("<interface>", name) for name in usable)
    return (form,)


def _form(command: str) -> str | None:
    words = tuple(command.split(" "))
    return next((form for form in FORMS if _fits(words, tuple(form.split(" ")))), None)


def _fits(words: tuple[str, ...], form: tuple[str, ...]) -> bool:
    return len(words) == len(form) and all(map(_fits_word, words, form))


def _fits_word(word: str, form: str) -> bool:
    if form == "<service>":
        return word in SERVICES
    if form == "<interface>":
        return _INTERFACE.fullmatch(word) is not None
    return word == form
