"""Every check passes on a capture, fails on one and does not apply to one.

The captures are archives such as `plimsoll tune capture` writes, opened and judged as
`plimsoll tune audit --root` does: some of virtual machines that booted, some composed.
"""

from functools import cache
from pathlib import Path

import pytest

from plimsoll.text.document import parse_document
from plimsoll.tune.audit.audit import Audit, all_checks, audit
from plimsoll.tune.audit.finding import CheckFinding, CheckVerdict
from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.host.capture.capture import write_capture
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.captures.composed_host import FOLDER, ComposedHost, composed_host
from tests.unit.tune.captures.systems import SYSTEMS
from tests.unit.tune.captures.verdict_table import TABLE, UNDECLARED, UNSPECIFIED, Cell, Row
from tests.worded.says import Says

COMPOSED = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
BOOTED = {system.name: system for system in SYSTEMS}
# CPUs, as every intent has them, and nothing else.
ASKS_NOTHING = 'name: unspecified\nplatform: vm\ncpus: {reserved: "0", isolated: 1-3}\n'

each_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row.number))
each_composed = pytest.mark.parametrize("name", COMPOSED)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the composed hosts' captures are."""
    folder = tmp_path_factory.mktemp("composed")
    for name in COMPOSED:
        write_capture(composed_host(name).capture(), folder / f"{name}.tar.gz")
    return folder


@cache
def judged(name: str, archives: Path) -> Audit:
    """The audit of the capture of that name in the table."""
    if name in BOOTED:
        return audit(open_root(BOOTED[name].capture), BOOTED[name].declared())
    if name in COMPOSED:
        host = composed_host(name)
        return audit(host.requested(open_root(archives / f"{name}.tar.gz")), host.intent)
    view = open_root(BOOTED["untuned"].capture)
    if name == UNSPECIFIED:
        document = parse_document(Path("unspecified.yaml"), ASKS_NOTHING)
        return audit(view, document.validate(Intent))
    assert name == UNDECLARED
    intent, why = assume_intent(view)
    return audit(view, intent, assumed=why)


def finding(row: Row, cell: Cell, archives: Path) -> CheckFinding:
    (found,) = [f for f in judged(cell[0], archives).findings if f.number == row.number]
    return found


def agree(row: Row, cell: Cell, verdict: CheckVerdict, archives: Path, says: Says) -> None:
    found = finding(row, cell, archives)
    assert found.verdict == verdict
    assert found.text == says(*cell[1])


def test_the_table_has_every_check() -> None:
    assert [row.number for row in TABLE] == [check.number for check in all_checks()]


@each_row
def test_a_capture_passes(row: Row, archives: Path, says: Says) -> None:
    agree(row, row.ok, "ok", archives, says)


@each_row
def test_a_capture_fails(row: Row, archives: Path, says: Says) -> None:
    """With a remedy, and with what was read where."""
    agree(row, row.fail, "warn" if row.never_fails else "fail", archives, says)
    assert finding(row, row.fail, archives).steps


@each_row
def test_to_a_capture_it_does_not_apply(row: Row, archives: Path, says: Says) -> None:
    agree(row, row.not_applicable, "not-applicable", archives, says)


@pytest.mark.parametrize("number", [row.number for row in TABLE if row.never_fails])
def test_what_only_warns_fails_nowhere(number: int, archives: Path) -> None:
    names = {cell[0] for row in TABLE for cell in (row.ok, row.fail, row.not_applicable)}
    findings = [each for name in names for each in judged(name, archives).findings]
    assert "fail" not in {each.verdict for each in findings if each.number == number}


@each_composed
def test_a_composed_host_is_judged_as_worked_out(name: str, archives: Path) -> None:
    """Each of its verdicts, and not only those of the table."""
    host = composed_host(name)
    found = {f.number: f.verdict for f in judged(name, archives).findings}
    assert found == dict(host.verdicts)


@each_composed
def test_a_composed_host_says_that_it_is_composed(name: str) -> None:
    first = (FOLDER / f"{name}.yaml").read_text().splitlines()[0]
    assert first.startswith("# COMPOSED BY HAND, NOT CAPTURED")


@each_composed
def test_all_that_is_composed_gets_into_the_capture(name: str) -> None:
    """A path that no check asks for would prove nothing, and a wrong one would go unseen."""
    host: ComposedHost = composed_host(name)
    capture = host.capture()
    manifest = capture.manifest
    left = [
        *(path for path in host.files if path not in capture.files),
        *(path for path in host.links if path not in manifest.links),
        *(command for command in host.commands if command not in manifest.outputs),
    ]
    assert left == []


@pytest.mark.parametrize("name", [*COMPOSED, "pinned", "thwarted"])
def test_no_command_or_environment_of_a_pod_is_in_a_capture(name: str, archives: Path) -> None:
    where = BOOTED[name].capture if name in BOOTED else archives / f"{name}.tar.gz"
    view = open_root(where)
    names = view.listing("/etc/kubernetes/manifests") or ()
    texts = [view.need(f"/etc/kubernetes/manifests/{each}") for each in names]
    assert name == "arm-board" or texts
    assert not [text for text in texts if "hunter2" in text or "command" in text]
