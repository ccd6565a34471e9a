"""`python -m plimsoll` is the command `plimsoll`."""

from plimsoll.cli.main import main

main()
