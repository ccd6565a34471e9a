"""`python -m plimsoll.cli`, also installed as `plimsoll`: the command line."""

from __future__ import annotations

from plimsoll.host.entry.entry_point import enter


def main() -> None:
    """Run the command line and exit."""
    enter(_command_line)


def _command_line() -> None:
    from plimsoll.cli.main import main as command_line  # noqa: PLC0415 - it may fail, too

    command_line()


if __name__ == "__main__":
    main()
