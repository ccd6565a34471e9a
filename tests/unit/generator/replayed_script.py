"""A real program with a script of ours in it, as recorded: the same answers to the same requests.

    replayed_script.py RECORDING SOCKET FOLDER

Lines of the recording are a request and its answer, a query of DPDK's telemetry and its answer,
or a file of latency samples, FOLDER/ in place of the folder's name. Another request than the next
one of the recording is refused, so that what a real one never accepted is not sent unnoticed.
A query has the answer that it had at this place, or the last that it had.
"""

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any


class Replay:
    """The recording, and how far it has come."""

    def __init__(self, recording: list[dict[str, Any]], folder: Path) -> None:
        self._left = recording
        self._folder = folder
        self._seen: dict[str, Any] = {}
        self._lock = threading.Lock()

    def request(self, line: str) -> str:
        with self._lock:
            while "request" not in self._left[0]:
                self._take()
            recorded = self._left.pop(0)
            while self._left and "samples" in self._left[0]:
                self._take()
        expected = recorded["request"].replace("FOLDER", str(self._folder))
        if line != expected:
            return f"error\trecorded was {expected}, not {line}"
        return str(recorded["answer"])

    def query(self, command: str) -> Any:
        with self._lock:
            if "query" in self._left[0] and self._left[0]["query"] == command:
                self._take()
            return self._seen[command]

    def _take(self) -> None:
        entry = self._left.pop(0)
        if "query" in entry:
            self._seen[entry["query"]] = entry["answer"]
        else:
            (self._folder / entry["samples"]).write_text(entry["text"])


def serve(listener: socket.socket, replay: Replay) -> None:
    while True:
        with listener.accept()[0] as peer:
            peer.send(json.dumps({"version": "DPDK 22.11.11", "pid": os.getpid()}).encode())
            while command := peer.recv(4096).decode():
                name = command.partition(",")[0]
                peer.send(json.dumps({name: replay.query(command)}).encode())


def main() -> None:
    recording, place, folder = (Path(each) for each in sys.argv[1:])
    replay = Replay([json.loads(line) for line in recording.read_text().splitlines()], folder)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(place))
    listener.listen()
    threading.Thread(target=serve, args=(listener, replay), daemon=True).start()
    given, taken = os.environ["PLIMSOLL_FILES"].split(",")
    files = Path("/proc/self/fd")
    with (files / given).open() as requests, (files / taken).open("w") as answers:
        print(replay.request("its start"), file=answers, flush=True)
        for line in requests:
            print(replay.request(line.strip()), file=answers, flush=True)


if __name__ == "__main__":
    main()
