import pytest

from plimsoll.terminal.suggesting_group import todays
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("noise --cpus 2", "osnoise --cpus 2"),
        ("otg demo.yaml", "serve otg demo.yaml"),
        ("trex-server demo.yaml", "serve trex demo.yaml"),
        ("bundle last --redact", "export --format bundle last --redact"),
        ("cluster list kube://lab --json", "runs list --on kube://lab --json"),
        ("cluster clean kube://lab --run x", "runs clean --on kube://lab --run x"),
        ("rfc2544 --resume runs/x", "test rfc2544 --resume runs/x"),
        ("rfc9004", "test rfc9004"),
        ("run noise", "run noise"),
        ("cluster", "cluster"),
    ],
)
def test_a_name_of_the_last_version_is_one_of_today(old: str, now: str) -> None:
    assert todays(old.split(), tell=False) == now.split()


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("noise", "--cpus", "two"), ("plimsoll noise", "plimsoll osnoise", "--cpus")),
        (("bundle", "nowhere"), ("plimsoll bundle", "plimsoll export --format bundle")),
        (("cluster", "list", "lab"), ("plimsoll runs list --on", "lab", "kube://")),
        (("import", "x.tar.gz"), ("plimsoll import bundle FILE", "x.tar.gz")),
        (("rfc9004",), ("plimsoll test rfc9004",)),
    ],
)
def test_it_does_what_the_new_one_does_and_is_said_to_be_old(
    plimsoll: Plimsoll, words: tuple[str, ...], facts: tuple[str, ...], says: Says
) -> None:
    assert plimsoll(*words) in (2, 4)
    assert plimsoll.err.startswith("note: ")
    assert plimsoll.err == says(*facts)


def test_help_is_that_of_the_new_name(plimsoll: Plimsoll) -> None:
    assert plimsoll("rfc2544", "--help") == 0
    assert "plimsoll test rfc2544" in plimsoll.out


def test_of_a_cluster_no_tags_are_listed(plimsoll: Plimsoll, says: Says) -> None:
    assert plimsoll("runs", "--on", "kube://lab/bench", "--tag", "kernel=6.1") == 2
    assert plimsoll.err == says("--tag")
