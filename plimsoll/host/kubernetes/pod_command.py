"""A command in a pod, as a process here: its input, output and errors are this process's.

`python -m plimsoll.host.kubernetes.pod_command kube://CONTEXT/NAMESPACE/POD[/CONTAINER] COMMAND…`
goes through the API server by exec, as kubectl would: by $KUBECONFIG or ~/.kube/config, in a pod by
its service account. The end of its input hangs up, with which the command's input ends.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Sequence

from plimsoll.errors import PlimsollError
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.kubernetes.api_client import ApiClient, configured_client
from plimsoll.host.kubernetes.exec_stream import ExecStream, StreamEnded
from plimsoll.host.kubernetes.pod_place import PodPlace

_BLOCK_BYTES = 65536
# A message of which a part has come; the rest is under way.
_MESSAGE_S = 60.0


def main(arguments: Sequence[str]) -> int:
    """Be that command until it ends, or its input here does."""
    place, command = PodPlace.parse(arguments[0]), arguments[1:]
    try:
        client = ApiClient(configured_client(place.context))
        stream = client.run_in(place.namespace, place.pod, place.container, command)
    except PlimsollError as error:
        return _failed(error)
    try:
        _join(stream)
    except StreamEnded as ended:
        return _failed(ended)
    finally:
        stream.close()
    return 0


def _join(stream: ExecStream) -> None:
    """Until the input ends. Raises StreamEnded where the command or the connection does first."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(stream, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(0 if stream.held else None)]
        if 0 in ready:
            block = os.read(0, _BLOCK_BYTES)
            if not block:
                return
            stream.write(block)
        if stream.held or stream.fileno() in ready:
            _write(stream.take(_MESSAGE_S))


def _write(block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(1, rest) :]


def _failed(error: PlimsollError) -> int:
    # Without its remedy, which is for a running run, and not for an observer.
    print(error.message, file=sys.stderr)
    return error.exit_code


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
