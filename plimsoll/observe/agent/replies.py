"""What an agent answers, a JSON object a line, each with its name under `reply`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from plimsoll.observe.agent.trace_replies import TraceReply

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Opened:
    """It is ready, and keeps to the CPUs `ran_on`, a list in the kernel's form.

    `version` is that of its Plimsoll. `missing` says of each source that is not read there why.
    """

    reply: ClassVar[str] = "opened"
    version: str
    hostname: str
    pid: int
    ran_on: str
    interval_s: float
    sources: tuple[str, ...]
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class Begun:
    """A period began, at `unix_ns` by the host's own clock."""

    reply: ClassVar[str] = "begun"
    unix_ns: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The period's last reading was made; `skipped` were due while the agent could not run.

    `cpu_s` is what all of them took; `missing` also has the sources that were lost during it.
    """

    reply: ClassVar[str] = "ended"
    ticks: Count
    skipped: Count
    cpu_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A request was not understood or could not be done."""

    reply: ClassVar[str] = "refused"
    problem: str


Reply = Opened | Begun | Ended | RequestRefused | TraceReply
# How a line that is one begins; all others are lines of a metrics file.
REPLY_HEAD = '{"reply"'
