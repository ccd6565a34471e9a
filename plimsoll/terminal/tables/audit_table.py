"""An audit on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.terminal.output import stdout
from plimsoll.text.plain_text import plain_text
from plimsoll.tune.audit.audit import Audit
from plimsoll.tune.audit.finding import CheckFinding, CheckVerdict, Step

_WIDTH = 100
_STYLES: dict[CheckVerdict, str] = {
    "fail": "bold red",
    "warn": "yellow",
    "unknown": "magenta",
    "ok": "green",
    "not-applicable": "dim",
}
_DETAILED: tuple[CheckVerdict, ...] = ("fail", "warn")
_LONGEST_READING = 100
# Ten lines: a hostile capture may have a name or a list as long as a file.
_LONGEST_TEXT = 700


def print_audit(done: Audit, console: Console = stdout) -> None:
    """The findings, worst first, and how many there are of each kind."""
    table = Table(box=None, pad_edge=False, width=min(console.width, _WIDTH))
    table.add_column("verdict", no_wrap=True)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("check", no_wrap=True)
    table.add_column("found", ratio=1, overflow="fold")
    for alike in _grouped(done):
        first = alike[0]
        verdict = Text("n/a" if first.verdict == "not-applicable" else first.verdict)
        verdict.stylize(_STYLES[first.verdict])
        if len(alike) == 1:
            table.add_row(verdict, str(first.number), Text(first.name), _found(first))
        else:
            numbers = ", ".join(str(finding.number) for finding in alike)
            # A Text, or rich takes brackets of a host's own words for markup.
            merged = Text(f"{plain_text(first.text, _LONGEST_TEXT)} ({numbers})")
            table.add_row(verdict, "", f"{len(alike)} checks", merged)
    console.print(_heading(done), soft_wrap=True)
    console.print(table)
    console.print(_summary(done))


def print_fixes(done: Audit) -> None:
    """What to do about each failure and warning, as a shell script to be read before use.

    What no command can do is a comment in it.
    """
    wrong = [finding for finding in done.by_severity if finding.verdict in _DETAILED]
    typer.echo(_before_fixes([step for finding in wrong for step in finding.steps]))
    for finding in wrong:
        typer.echo(f"\n# {finding.number} {finding.title}: {plain_text(finding.text)}")
        for step in finding.steps:
            typer.echo(plain_text(step.text if step.kind == "command" else f"# {step.text}"))
        if not finding.steps:
            typer.echo(f"# {finding.fix}")


def _before_fixes(steps: Sequence[Step]) -> str:
    """What to know before running them, as far as there is something to run."""
    commands = [step for step in steps if step.kind == "command"]
    if not commands:
        return "# What to change, and where. Run nothing here."
    if all(step.lasts == "sets-nothing" for step in commands):
        return "# What to change, and where. The commands measure, and set nothing."
    lines = ["# Read before running as root."]
    if any(step.lasts == "until-boot" for step in commands):
        lines.append("# What echo, sysctl, ip, ethtool and the like set lasts until the next boot.")
    if any(step.boot_arguments for step in commands):
        lines.append("# What grubby sets counts from the next boot on.")
    return "\n".join(lines)


def _grouped(done: Audit) -> list[list[CheckFinding]]:
    """The findings in order; those that do not apply for one and the same reason together."""
    groups: dict[object, list[CheckFinding]] = {}
    for finding in done.by_severity:
        alone = finding.verdict != "not-applicable"
        groups.setdefault(finding.number if alone else finding.text, []).append(finding)
    return list(groups.values())


def _heading(done: Audit) -> Text:
    host = plain_text(done.host or "a host without a name")
    kernel = f", kernel {plain_text(done.kernel)}" if done.kernel else ""
    intent = done.assumed or f"intent {done.intent}"
    return Text(f"{host}{kernel} ({plain_text(done.source)}); {plain_text(intent)}")


def _found(finding: CheckFinding) -> Text:
    text = Text(plain_text(finding.text, _LONGEST_TEXT))
    if finding.verdict in _DETAILED:
        if finding.expected:
            text.append(f"\nexpected: {plain_text(finding.expected, _LONGEST_TEXT)}", "dim")
        for reading in finding.read:
            what = plain_text(reading.what, _LONGEST_READING)
            text.append(f"\n{plain_text(reading.where)}: {what}", "dim")
    return text


def _summary(done: Audit) -> Text:
    counts = (
        Text(f"{count} {verdict}", _STYLES[verdict])
        for verdict, count in done.counts.items()
        if count
    )
    return Text(f"{len(done.findings)} checks: ") + Text(", ").join(counts)
