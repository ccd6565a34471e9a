"""`python -m plimsoll.cli` is the command `plimsoll`."""

from plimsoll.cli.main import main

main()
