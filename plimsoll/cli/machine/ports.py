"""`plimsoll ports`: what ports the machine has, and what is missing to use them."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from plimsoll.cli.terminal.output import stdout
from plimsoll.host.ports.ethtool import HardwareStamps
from plimsoll.host.ports.machine_ports import MachinePort, machine_ports

_TABLE_WIDTH = 120


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog="Examples: **plimsoll ports** · **plimsoll ports --json**")(ports)


def ports(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the machine's ports: driver, link, stamps, and what is missing to use them.

    Needs no root and changes nothing. Use one in an experiment's lab of kind external, as
    `netdev: NAME` or `devargs: ADDRESS`.
    """
    found = machine_ports()
    if json:
        typer.echo(json_text.dumps([asdict(port) for port in found], indent=2))
        return
    if not found:
        stdout.print("this machine has no port but its loopback")
        return
    # A terminal that is too narrow wraps the lines, but no address is cut short.
    Console(width=max(stdout.width, _TABLE_WIDTH)).print(_table(found))
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
        stdout.print(f"\n[bold]{name}[/] is in use, not for tests: {port.in_use}", soft_wrap=True)
        return
    for way, needs in (
        (f"netdev: {port.name}", port.netdev_needs),
        (f"devargs: {port.pci_address}", port.pci_needs),
    ):
        if needs is not None:
            stdout.print(f"\n[bold]{way}[/]{'' if needs else ' is ready'}", highlight=False)
            for need in needs:
                stdout.print(f"  {need}", soft_wrap=True, highlight=False)
