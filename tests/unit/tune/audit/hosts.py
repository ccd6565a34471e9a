"""Small captures for tests of checks."""

from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import REMEDY_READS, CheckFinding
from plimsoll.tune.host.boot.operating_system import OS_RELEASE
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.capture_privacy import matches
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.unread import Unread
from tests.unit.tune.audit.machines import ONLINE

RHEL = 'NAME="Red Hat Enterprise Linux"\nID="rhel"\nID_LIKE="fedora"\nVERSION_ID="9.4"\n'


def host(
    check: Check,
    files: Mapping[str, str],
    *,
    links: Mapping[str, str] | None = None,
    listed: Mapping[str, tuple[str, ...]] | None = None,
    outputs: Mapping[str, tuple[int, str]] | None = None,
    forbidden: Iterable[str] = (),
) -> CapturedHost:
    """A capture of what `check` says that it reads, and of nothing else.

    A rule that reads more meets "not-captured" and ends in unknown, so that every test of
    a check also proves its list. It runs RHEL, unless `files` say otherwise: what the remedies
    read, every check may.
    """
    patterns = (*check.reads, *check.links, *check.lists, *REMEDY_READS)
    for path in (*files, *(links or {}), *(listed or {})):
        assert any(matches(pattern, path) for pattern in patterns), f"{path} is not declared"
    return CapturedHost(
        files={OS_RELEASE[0]: RHEL} | dict(files),
        links=links,
        listed=listed,
        outputs={name: CommandOutput(*given) for name, given in (outputs or {}).items()},
        unread=[Unread(path, "forbidden") for path in forbidden],
        collected=patterns,
    )


def host_of_8(check: Check, files: Mapping[str, str], **rest: Any) -> CapturedHost:
    """The same, with CPUs 0-7 online: those of tests.unit.tune.audit.intents."""
    return host(check, {ONLINE: "0-7\n"} | dict(files), **rest)


def commands(finding: CheckFinding) -> list[str]:
    """What --fix would print for a root shell."""
    return [step.text for step in finding.steps if step.kind == "command"]
