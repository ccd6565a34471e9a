"""The tester as a host on its ports: its addresses, and the next hop of each stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, model_validator

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.interface import PortInfo, ResolvedAddress
from plimsoll.text.mistakes import mistake
from plimsoll.traffic.frames.addresses import IpAddress, IpField, MacField
from plimsoll.traffic.plan import MAC_BYTES, StreamPlan

# HOST_ADDRESSES_MAX of engine/src/config/limits.h.
_MAX_ADDRESSES = 8
_LAST_VLAN = 4094

IpInterface = IPv4Interface | IPv6Interface


def _interface(given: object) -> object:
    try:
        address = ip_interface(str(given))
    except ValueError:
        problem = f"{given!r} is not an IP address with the length of its prefix"
        raise mistake(problem, "write 192.0.2.1/24 or 2001:db8::1/64") from None
    ip = address.ip
    if "/" not in str(given) and not isinstance(given, IPv4Interface | IPv6Interface):
        raise mistake(f"{given!r} lacks the length of its prefix", f"write {ip}/24 or the like")
    if ip.is_multicast or ip.is_unspecified or "%" in str(ip):
        raise mistake(f"{given!r} is not one host's address", "give a unicast address")
    return address


InterfaceField = Annotated[IpInterface, BeforeValidator(_interface)]


class HostSettings(BaseModel):
    """The tester as a host on one of its ports.

    It answers for its `addresses` there, and what is behind none of their prefixes it sends to
    the gateway of that IP version. `mac` is the port's own unless it is given; with `vlan` the
    host is in that VLAN.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    port: Annotated[StrictInt, Field(ge=0, le=15)]
    addresses: Annotated[tuple[InterfaceField, ...], Field(min_length=1, max_length=_MAX_ADDRESSES)]
    gateways: Annotated[tuple[IpField, ...], Field(max_length=2)] = ()
    mac: MacField | None = None
    vlan: Annotated[StrictInt, Field(ge=1, le=_LAST_VLAN)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _single_ones(cls, given: Any) -> Any:
        """A single address needs no list."""
        if not isinstance(given, dict):
            return given
        lists = {
            name: [given[name]]
            for name in ("addresses", "gateways")
            if name in given and not isinstance(given[name], list | tuple)
        }
        return {**given, **lists}

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        own = [each.ip for each in self.addresses]
        for index, each in enumerate(own):
            if each in own[:index]:
                raise mistake(f"{each} is there twice", "remove one", "addresses", index)
        for index, gateway in enumerate(self.gateways):
            if gateway in own:
                problem = f"{gateway} is the host's own address"
                raise mistake(problem, "give the router's", "gateways", index)
            if not self._is_near(gateway):
                problem = f"{gateway} is not in any of the host's networks"
                remedy = "give an address in one of them, or correct the prefix"
                raise mistake(problem, remedy, "gateways", index)
        if len({each.version for each in self.gateways}) < len(self.gateways):
            raise mistake("these are two of one IP version", "give one of each", "gateways")
        if self.mac is not None and (int(self.mac[:2], 16) & 1 or not int(self.mac[::3], 16)):
            raise mistake(f"{self.mac} is not one station's", "give a unicast address", "mac")
        return self

    def next_hop(self, destination: IpAddress) -> IpAddress | None:
        """Who is to get frames for an address: itself, or the gateway; None where there is none."""
        if self._is_near(destination):
            return destination
        return next((each for each in self.gateways if each.version == destination.version), None)

    def request(self) -> dict[str, object]:
        """As the engine has it."""
        optional = {"mac": self.mac, "vlan": self.vlan}
        return {
            "addresses": [str(each.ip) for each in self.addresses],
            **{name: value for name, value in optional.items() if value is not None},
        }

    def _is_near(self, address: IpAddress) -> bool:
        return any(
            address.version == each.version and address in each.network for each in self.addresses
        )


class Hosts:
    """The tester's hosts, by port."""

    def __init__(self, settings: Sequence[HostSettings] = ()) -> None:
        self._by_port = {each.port: each for each in settings}

    def __bool__(self) -> bool:
        return bool(self._by_port)

    def request_of(self, port: int) -> dict[str, object]:
        """What opens a port with its host, if it has one."""
        host = self._by_port.get(port)
        return {} if host is None else {"host": host.request()}

    def check_streams(self, streams: Iterable[StreamPlan]) -> None:
        """Raise InputError for a stream whose next hop cannot be known."""
        for stream in streams:
            self._next_hop(stream)

    def next_hops(self, streams: Iterable[StreamPlan]) -> list[tuple[int, IpAddress]]:
        """Whom to ask for, (port, address), each once."""
        hops = ((stream.tx_port, self._next_hop(stream)) for stream in streams)
        return list(dict.fromkeys((port, hop) for port, hop in hops if hop is not None))

    def addressed(
        self,
        streams: Iterable[StreamPlan],
        resolved: Sequence[ResolvedAddress],
        ports: Sequence[PortInfo],
    ) -> tuple[StreamPlan, ...]:
        """The streams, their frames from the hosts' MACs to those of the next hops.

        Raises MachineError for one that is not known.
        """
        macs = {(each.port, each.address): each for each in resolved}
        return tuple(self._addressed(stream, macs, ports) for stream in streams)

    def _addressed(
        self,
        stream: StreamPlan,
        macs: dict[tuple[int, str], ResolvedAddress],
        ports: Sequence[PortInfo],
    ) -> StreamPlan:
        host, hop = self._by_port.get(stream.tx_port), self._next_hop(stream)
        frames = stream.frames
        if hop is not None:
            found = macs[stream.tx_port, str(hop)]
            if found.mac is None:
                raise _unanswered(found, ports[stream.tx_port].devargs)
            mac = _bytes_of(found.mac)
            frames = tuple(mac + frame[MAC_BYTES:] for frame in frames)
        if host is not None and stream.own_source:
            own = _bytes_of(host.mac or ports[stream.tx_port].mac)
            frames = tuple(frame[:MAC_BYTES] + own + frame[2 * MAC_BYTES :] for frame in frames)
        return replace(stream, frames=frames, destination=None, own_source=False)

    def _next_hop(self, stream: StreamPlan) -> IpAddress | None:
        host = self._by_port.get(stream.tx_port)
        if host is None or stream.destination is None:
            return None
        hop = host.next_hop(stream.destination)
        if hop is None:
            version = stream.destination.version
            raise InputError(
                f"stream {stream.name} goes to {stream.destination}, which is in no network of the "
                f"host on port {host.port}, and there is no IPv{version} gateway",
                where="generator.hosts",
                remedy="give the host gateways, or the stream dst_mac",
            )
        return hop


NO_HOSTS = Hosts()


def check_hosts(hosts: Sequence[HostSettings], port_count: int) -> None:
    """Raise InputError for hosts on ports that are not there, and for two on one port."""
    counts = Counter(each.port for each in hosts)
    for index, host in enumerate(hosts):
        where = f"generator.hosts[{index}].port"
        if host.port >= port_count:
            raise InputError(
                f"there is no port {host.port}: the lab has {port_count}",
                where=where,
                remedy=f"give a port from 0 to {port_count - 1}",
            )
        if counts[host.port] > 1:
            raise InputError(
                f"there are {counts[host.port]} hosts on port {host.port}",
                where=where,
                remedy="give one host all addresses",
            )


def _bytes_of(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _unanswered(found: ResolvedAddress, devargs: str) -> MachineError:
    protocol = "solicitations" if ":" in found.address else "ARP requests"
    return MachineError(
        f"no answer from {found.address} on port {found.port} ({devargs}): {found.tries} "
        f"{protocol} were sent",
        where="generator.hosts",
        remedy="check the address, the cable, the VLAN and the other end, or give the streams "
        "dst_mac",
    )
