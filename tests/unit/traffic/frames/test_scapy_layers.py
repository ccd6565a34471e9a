"""Scapy is loaded late, quietly, and without a look at the network or the user's files."""

import os
import subprocess
import sys
from pathlib import Path

# Tells of sockets and child processes, and of files of the user's.
_WATCHED = """
import sys
seen = []
def watch(event, arguments):
    files = event == "open" and str(arguments[0]).startswith({home!r})
    if files or event in ("socket.__new__", "socket.connect", "subprocess.Popen", "os.mkdir"):
        seen.append((event, str(arguments)))
sys.addaudithook(watch)
{code}
print(seen)
"""
_BUILD = """
from plimsoll.traffic.streams.stream import Stream
from plimsoll.traffic.frames.field_writers import templates
packet = ["Ether", "IP", "UDP", "VXLAN", "Ether", "IPv6", "TCP"]
for fields in ({}, {"packet": packet}, {"protocol": "ARP"}, {"packet": ["Ether", "IPv6"]}):
    templates(Stream(name="load", role="load", frame_size=256, **fields), reverse=True)
"""


def _run(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """With a home that has a Scapy configuration, which would print."""
    for folder in (".config/scapy", ".cache/scapy"):
        (home / folder).mkdir(parents=True)
    for name in ("prestart.py", "startup.py"):
        (home / ".config/scapy" / name).write_text("print('configured')\n")
    environment = os.environ | {"HOME": str(home)}
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        environment.pop(variable, None)
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_frames_are_built_off_the_network_and_without_a_word(tmp_path: Path) -> None:
    done = _run(_WATCHED.format(home=str(tmp_path), code=_BUILD), tmp_path)
    assert done.stdout == "[]\n"
    assert done.stderr == ""
    assert list((tmp_path / ".cache/scapy").iterdir()) == []


def test_the_watch_sees_what_scapy_does_by_itself(tmp_path: Path) -> None:
    """Else the test above could not fail."""
    done = _run(_WATCHED.format(home=str(tmp_path), code="import scapy.layers.inet"), tmp_path)
    assert "socket.__new__" in done.stdout


def test_the_command_line_starts_without_scapy(tmp_path: Path) -> None:
    code = "import sys, plimsoll.cli.main; print([m for m in sys.modules if m == 'scapy'])"
    assert _run(code, tmp_path).stdout == "[]\n"
