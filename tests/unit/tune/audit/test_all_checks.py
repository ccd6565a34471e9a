"""What holds of every check there is."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.tune.audit.audit import all_checks, audit
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import VERDICTS
from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.capture_privacy import matches
from plimsoll.tune.host.view.commands import FORMS, commands_of
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.unread import Unread
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset, preset_names
from tests.unit.tune.audit.machines import booted

CHECKS = all_checks()
PATTERNS = sorted({path for check in CHECKS for path in (*check.reads, *check.links)})
INTERFACES = ("ens7f0", "ens7f1")
# What stands for the wild parts of patterns; a name of an interface, a PCI address, a number.
SAMPLES = ("0", "1", "ens7f0", "0000:87:00.0")
INTENTS = [load_preset(name) for name in preset_names()]
# What files hold when a kernel is kind, and what they may hold in a hostile capture.
TEXTS = st.one_of(
    st.sampled_from(
        ["", "0", "1", "-1", "0-3", "ff", "n/a", "Y", "max 100000", "9" * 5000, "(null)", "\x1b["]
    ),
    st.text(max_size=40),
)


def paths_of(pattern: str) -> list[str]:
    """A few paths that the pattern names."""
    names = {
        re.sub(r"\[[^]]*\]\*?|\*", sample, pattern.replace("/**", "/a.slice")) for sample in SAMPLES
    }
    return sorted(path for path in names if matches(pattern, path))


PATHS = sorted({path for pattern in PATTERNS for path in paths_of(pattern)})
COMMANDS = sorted({command for form in FORMS for command in commands_of(form, INTERFACES)})


def test_numbers_and_names_are_each_ones_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert [check.number for check in CHECKS] == list(range(1, len(CHECKS) + 1))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_says_what_why_how_and_whence(check: Check) -> None:
    assert check.title
    assert not check.title.endswith(".")
    for text in (check.why, check.fix):
        assert len(text) > 20
        assert "  " not in text
    assert check.sources
    assert all(path.startswith("/") for path in (*check.reads, *check.links, *check.lists))
    assert all(form in FORMS for form in check.commands)


@settings(max_examples=120, deadline=None)
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    seed=st.integers(0, 2**32),
    kind=st.booleans(),
    intent=st.sampled_from([*INTENTS, None]),
)
def test_no_check_raises_whatever_a_capture_holds(
    texts: list[str], seed: int, kind: bool, intent: Intent | None
) -> None:
    choice = Random(seed)  # noqa: S311 - a seed that hypothesis can shrink, not a secret
    files = {path: choice.choice(texts) for path in PATHS if choice.random() < 0.7}
    # Far fewer rules stop at once where the host is known.
    files |= booted("isolcpus=2-3 nohz_full=2-3", online="0-3") if kind else {}
    view = CapturedHost(
        files=files,
        links={path: choice.choice(texts) for path in PATHS if choice.random() < 0.1},
        outputs={
            name: CommandOutput(choice.randrange(4), choice.choice(texts)) for name in COMMANDS
        },
        unread=[Unread(path, "forbidden") for path in PATHS if choice.random() < 0.05],
    )
    assumed, _ = assume_intent(view)
    done = audit(view, intent or assumed)
    assert len(done.findings) == len(CHECKS)
    assert all(finding.verdict in VERDICTS and finding.text for finding in done.findings)


def test_an_empty_capture_fails_nothing() -> None:
    """What was not collected is unknown, never wrong."""
    for intent in INTENTS:
        done = audit(CapturedHost(files={}, collected=[]), intent)
        assert {finding.verdict for finding in done.findings} <= {"unknown", "not-applicable"}, [
            finding for finding in done.findings if finding.verdict in ("ok", "warn", "fail")
        ]
