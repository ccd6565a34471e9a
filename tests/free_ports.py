"""TCP ports of loopback that nothing listens on: for programs that take a number, not a socket."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """As many, each another."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def free_port() -> int:
    """One of them."""
    return free_ports(1)[0]
