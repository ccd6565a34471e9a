"""`python -m plimsoll.observe`, also installed as `plimsoll-observe`: the agent of this host."""

from __future__ import annotations

import contextlib
import gc
import resource
import signal

from plimsoll.host.entry.entry_point import enter


def main() -> None:
    """Be the agent of this host until stdin ends, and exit."""
    enter(_agent)


def _agent() -> None:
    from plimsoll.observe.agent.agent import serve  # noqa: PLC0415 - it may fail, too
    from plimsoll.observe.reading.host_files import HostFiles  # noqa: PLC0415

    # Its parent ends it by closing stdin, after a Ctrl-C too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # On large machines there are more files to hold open than the usual thousand.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # What is there now stays; later collections need not look at it again.
    gc.freeze()
    # The reader has gone: there is no one left to report to.
    with contextlib.suppress(BrokenPipeError):
        serve(0, 1, HostFiles())


if __name__ == "__main__":
    main()
