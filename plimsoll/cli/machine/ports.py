"""`plimsoll ports`: what ports the machine has, what is missing to use them, and who has them."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from plimsoll.host.ports.binding import PortBinder
from plimsoll.host.ports.ethtool import HardwareStamps
from plimsoll.host.ports.machine_ports import MachinePort, machine_ports
from plimsoll.terminal.output import stdout, wide_stdout
from plimsoll.terminal.suggesting_group import SuggestingGroup

_TABLE_WIDTH = 120


app = typer.Typer(
    name="ports",
    cls=SuggestingGroup,
    invoke_without_command=True,
    epilog="Examples: **plimsoll ports** · **plimsoll ports --json** · "
    "**plimsoll ports bind 0000:87:00.0**",
    rich_markup_mode="markdown",
)

_Port = Annotated[str, typer.Argument(help="The card's PCI address, or the name of its interface.")]


def add_to(parent: typer.Typer) -> None:
    """Register the command."""
    parent.add_typer(app)


@app.callback()
def ports(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the machine's ports: driver, link, stamps, and what is missing to use them.

    Needs no root and changes nothing; **bind** and **unbind** do. Use a port in an experiment's
    lab of kind external, as `netdev: NAME` or `devargs: ADDRESS`. Stamps are what the kernel's
    driver offers: a port with rx may do for `stamps: hardware`, one with tx for `stamps: timesync`
    if DPDK's driver was built for it; the engine says so when it opens them.
    """
    if context.invoked_subcommand is None:
        _list(json=json)


@app.command(epilog="Example: **plimsoll ports bind 0000:87:00.0**")
def bind(port: _Port) -> None:
    """Give a card to vfio-pci, for DPDK, until the next boot; the kernel then has it no more.

    A card that carries the default route, a route or your SSH session is refused, and so is one
    of a machine without vfio-pci or IOMMU. Other cards of its kind keep their drivers.
    """
    done = PortBinder().bind(port)
    if done.before == done.after:
        stdout.print(f"{done.address} is bound to {done.after} already", soft_wrap=True)
    else:
        stdout.print(
            f"{done.address} is bound to {done.after} (before: {done.before or 'no driver'}); "
            f"plimsoll ports unbind {done.address} gives it back",
            soft_wrap=True,
        )
    if done.group_mates:
        stdout.print(
            f"DPDK can open it when these of its IOMMU group are bound to vfio-pci as well: "
            f"{', '.join(done.group_mates)}",
            soft_wrap=True,
        )


@app.command(epilog="Example: **plimsoll ports unbind 0000:87:00.0**")
def unbind(port: _Port) -> None:
    """Give a card back to the kernel's own driver.

    One that a process has open is refused.
    """
    done = PortBinder().unbind(port)
    since = " already" if done.before == done.after else f" (before: {done.before or 'no driver'})"
    stdout.print(f"{done.address} has the kernel's driver {done.after}{since}", soft_wrap=True)


def _list(*, json: bool) -> None:
    found = machine_ports()
    if json:
        typer.echo(json_text.dumps([asdict(port) for port in found], indent=2))
        return
    if not found:
        stdout.print("this machine has no port but its loopback")
        return
    # A terminal that is too narrow wraps the lines, but no address is cut short.
    wide_stdout(_TABLE_WIDTH).print(_table(found))
    for port in found:
        _print_use(port)


def _table(found: tuple[MachinePort, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in (
        "port",
        "PCI",
        "kind",
        "driver",
        "NUMA",
        "link",
        "speed",
        "MAC",
        "rx/tx queues",
        "stamps",
    ):
        table.add_column(name, no_wrap=True)
    for port in found:
        table.add_row(
            port.name or "-",
            port.pci_address or "-",
            port.kind,
            port.driver or "-",
            "-" if port.numa_node is None else str(port.numa_node),
            port.link or "-",
            _speed(port.speed_mbps),
            port.mac or "-",
            "-" if port.rx_queues is None else f"{port.rx_queues}/{port.tx_queues}",
            _stamps(port.stamps),
        )
    return table


def _speed(mbps: int | None) -> str:
    if mbps is None:
        return "-"
    return f"{mbps / 1000:g}G" if mbps >= 1000 else f"{mbps}M"


def _stamps(stamps: HardwareStamps | None) -> str:
    if stamps is None or not (stamps.rx_some or stamps.tx):
        return "none"
    rx = "rx" if stamps.rx_all else "rx (some frames)" if stamps.rx_some else ""
    return ", ".join(part for part in (rx, "tx" if stamps.tx else "") if part)


def _print_use(port: MachinePort) -> None:
    name = port.name or port.pci_address
    if port.in_use:
        said = f" is in use, not for tests: {port.in_use}"
        stdout.print(Text.assemble("\n", (name or "", "bold"), said), soft_wrap=True)
        return
    for way, needs in (
        (f"netdev: {port.name}", port.netdev_needs),
        (f"devargs: {port.pci_address}", port.pci_needs),
    ):
        if needs is not None:
            stdout.print(Text.assemble("\n", (way, "bold"), "" if needs else " is ready"))
            for need in needs:
                stdout.print(f"  {need}", soft_wrap=True, highlight=False)
