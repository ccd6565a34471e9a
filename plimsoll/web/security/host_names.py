"""Which names a browser may call us by.

A page of another site can have its own name resolved to our address (DNS rebinding), and then
counts as ours in the browser. It cannot change the name that the browser sends in Host.
"""

from __future__ import annotations

import ipaddress

from plimsoll.web.endpoint import ListenEndpoint, ServedEndpoint


def is_own_name(host: str, endpoint: ServedEndpoint, names: frozenset[str]) -> bool:
    """Whether `host`, a request's Host header, names this server: `name` or `name:port`.

    That is `localhost`, one of `names`, or an address: the one that is listened on, of the
    loopback, or any where all are listened on. The port may be another: tunnels change it.
    """
    name = _without_port(host).lower()
    if name == "localhost" or name in names:
        return True
    try:
        address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    if address.is_loopback or not isinstance(endpoint, ListenEndpoint):
        return address.is_loopback
    bound = ipaddress.ip_address(endpoint.address)
    return bound.is_unspecified or address == bound


def _without_port(host: str) -> str:
    if host.startswith("["):
        name, bracket, port = host.partition("]")
        return f"{name}{bracket}" if not port or _is_port(port.removeprefix(":")) else ""
    name, colon, port = host.partition(":")
    return name if not colon or _is_port(port) else ""


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit()
