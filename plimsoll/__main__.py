"""`python -m plimsoll` is the command `plimsoll`."""

from plimsoll.cli.__main__ import main

if __name__ == "__main__":
    main()
