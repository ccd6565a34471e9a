"""The page of all checks of a host, tuning.md, made of the checks' own words by `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from plimsoll.host.entry.entry_point import enter
from plimsoll.tune.audit.audit import all_checks
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import GROUP_TITLES

_INTRODUCTION = """\
# Tuning audit: what is checked, why, and how to fix it

`plimsoll tune audit` compares a host with an intent ([tuning-intent.md](tuning-intent.md)) and \
gives one verdict for each check below. It needs no root, changes nothing, and says what it \
could not read.

```
plimsoll tune audit                               # this host, whatever it is to be
plimsoll tune audit --intent intent.yaml          # this host against a declared intent
plimsoll tune audit --intent intent.yaml --fix    # what would set it right; nothing is run
plimsoll tune capture -o worker-1.tar.gz          # on the host: what the audit reads, in a file
plimsoll tune audit --intent intent.yaml --root worker-1.tar.gz --json
```

It ends with 1 where a check failed, and with 0 otherwise. What `--json` prints is described \
in [tuning-audit.md](tuning-audit.md).

| verdict | meaning |
|---|---|
| `fail` | not as the intent says |
| `warn` | sound on some hosts on purpose, or of small weight |
| `unknown` | what it rests on could not be read; no fault of the host |
| `ok` | as the intent says |
| `n/a` (`not-applicable` in JSON) | the intent does not say, or the host has no such thing |

**Without an intent** the audit assumes one from the kernel's command line: the CPUs of \
`isolcpus` and `nohz_full` are isolated and all others reserved, and nothing else is required. \
The heading says so. Of what that does not say, or where the command line isolates no CPUs, \
it warns of what no packet dataplane wants (swap, merged pages, governors that save power, a PCIe \
link below what the card can), and shows what it read: nothing fails for it without an intent. \
`plimsoll tune init` proposes an intent for the host.

**A capture** is a tar archive of a manifest and of exactly the files listed below, with the \
output of a few commands; `--root` takes it as it is or unpacked, and also the root directory \
of a mounted file system. Of what people and programs write it takes no more than is read: of \
the kernel's command line the values of arguments that tune (of others the name and `<hidden>`), \
of the kubelet's configuration, of static pods, of irqbalance's files, of calibrations and of \
what commands print the fields and lines that a check reads. It has no process's arguments or \
environment, no keys and no passwords, and it is judged as the host is; only an argument that the \
intent names and that is not among those known is unknown in it.

**What a capture tells all the same**: the host's name, the names of its interfaces, processes \
and threads, by which interfaces the default route leads, versions of firmware, paths of control \
groups, in which pods have their UIDs and services may have a user's name, and the names of users \
in the paths of calibrations. Look into it before you give it to strangers. As root more can be \
read; what could not be, the manifest says.
"""


def tuning_document() -> str:
    """The whole document."""
    checks = all_checks()
    groups = [(group, list(members)) for group, members in groupby(checks, lambda c: c.group)]
    lines = [_INTRODUCTION, *_overview(checks)]
    for group, members in groups:
        lines += ["", f"## {GROUP_TITLES[group]}"]
        for check in members:
            lines += ["", *_section(check)]
    return "\n".join(lines) + "\n"


def _overview(checks: tuple[Check, ...]) -> Iterator[str]:
    yield "| # | check | question |"
    yield "|--:|---|---|"
    for check in checks:
        yield f"| {check.number} | [{check.name}](#{_anchor(check)}) | {check.title} |"


def _section(check: Check) -> Iterator[str]:
    yield f"### {_heading(check)}"
    yield ""
    yield f"{check.title}. {check.why}"
    yield ""
    yield f"**Fix.** {check.fix}"
    yield ""
    if read := [*check.reads, *check.links, *check.lists, *check.commands]:
        yield f"**Reads** {', '.join(f'`{each}`' for each in dict.fromkeys(read))}"
        yield ""
    yield f"**Sources**: {'; '.join(check.sources)}"


def _heading(check: Check) -> str:
    return f"{check.number} {check.name}"


def _anchor(check: Check) -> str:
    """As Markdown viewers make it of the heading."""
    return _heading(check).replace(" ", "-")


if __name__ == "__main__":
    enter(lambda: print(tuning_document(), end=""))
