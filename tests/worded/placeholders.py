"""What differs from one run of a test to the next stands in a wording under a name."""

import os
import platform
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from plimsoll.version import VERSION

CHECKOUT = Path(__file__).parents[2]
# What pytest and tempfile make, up to the folder of one test.
_TEMPORARY = re.compile(
    r"/tmp/pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?[\w.\[\]-]+|/tmp/(?:tmp|pl-)[a-z0-9_]{8}\b"
)

# What a test makes large is of interest by its size alone.
_LONG = re.compile(r"([^\s─━═-])\1{79,}")

_TIME = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)[T ](\d\d):?(\d\d):?(\d\d)(?:\.\d+)?Z?")
# A test file takes no longer, and no time that a test was given lies so near.
_JUST_NOW = timedelta(minutes=10)

# As Linux gives them out where a test binds port 0.
_PORT = re.compile(r"((?<=[\w\]]):|\bport )(?:3[2-9]\d{3}|[45]\d{4}|60\d{3})\b")

# Of a ledger, which are drawn at random.
_ID = re.compile(r"\b([a-z][a-z0-9-]*)-(?:[0-9a-f]{6}|[0-9a-f]{10}|[0-9a-f]{16})\b")
# Of a traceback: whose lines and numbers change with every edit above them, and with Python.
_FRAMES = re.compile(
    r'^(?P<indent> *)File "[^"\n]*", line \d+, in [^\n]*'
    r'(?:\n(?P=indent)(?:File "[^"\n]*", line \d+, in |  )[^\n]*)*',
    re.MULTILINE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def _if_recent(found: re.Match[str]) -> str:
    """Times of the test, by UTC or by the clock on the wall; not those that it was given."""
    try:
        at = datetime(*map(int, found.groups()))
    except ValueError:
        return found[0]
    nows = datetime.now(UTC).replace(tzinfo=None), datetime.now()
    return "<time>" if any(abs(now - at) <= _JUST_NOW for now in nows) else found[0]


def printable(text: str) -> str:
    """With its control characters as Python writes them."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def stable(text: str) -> str:
    """The text, the same whoever runs the test, where and when."""
    text = _TEMPORARY.sub("<tmp>", text)
    text = text.replace(str(CHECKOUT), "<checkout>").replace(sys.executable, "<python>")
    text = re.sub(rf"(?<![\w.]){re.escape(VERSION)}(?![\w.]*\w)", "<version>", text)
    text = text.replace(platform.release(), "<kernel>")
    text = re.sub(rf"(?<![\w.]){re.escape(platform.python_version())}(?![\w.])", "<python>", text)
    text = re.sub(r"\bnftables v[\d.]+", "nftables <version>", text)
    text = re.sub(r"(no interface '[\w-]+'\s+remedy: choose from: )[^\n]*", r"\1<interfaces>", text)
    text = re.sub(rf"(?<![\w.:-]){os.getpid()}(?![\w.:-])", "<pid>", text)
    text = re.sub(r"\((pid|dpdk-testpmd|plimsoll-engine) \d+\)", r"(\1 <pid>)", text)
    text = _ID.sub(r"\1-<id>", text)
    text = printable(text)
    text = _FRAMES.sub(r"\g<indent><frames>", text)
    text = re.sub(r"(plimsoll/[\w/]+\.py|\(_\w+\.c):\d+", r"\1:<line>", text)
    text = re.sub(r"[\d.]+ [KMGT]iB free\)", "<size> free)", text)
    text = _PORT.sub(r"\1<port>", text)
    text = _TIME.sub(_if_recent, text)
    text = _LONG.sub(lambda run: f"{run[1]} * {len(run[0])}", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
