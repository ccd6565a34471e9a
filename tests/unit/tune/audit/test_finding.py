"""Judgements of several parts, and steps that a shell takes as they are meant."""

from plimsoll.tune.audit.finding import (
    Reading,
    advice,
    command,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.host.capture.capture import CapturedHost
from tests.worded.says import Says

A, B = Reading("/a", "1"), Reading("/b", "2")


def test_the_worst_part_decides_and_readings_of_all_are_kept() -> None:
    whole = worst_of(
        [
            ok("a is right", A, expected="a 1"),
            fail("b is wrong", B, expected="b 3", steps=[advice("fix b")]),
            not_applicable("c is not there"),
        ]
    )
    assert (whole.verdict, whole.text) == ("fail", "b is wrong")
    assert whole.read == (A, B)
    assert whole.expected == "a 1; b 3"
    assert whole.steps == (advice("fix b"),)


def test_a_failure_does_not_hide_what_is_unknown(says: Says) -> None:
    whole = worst_of([unknown("who knows"), warn("odd"), fail("wrong")])
    assert whole.verdict == "fail"
    assert whole.text == says("knows", "odd", "wrong")
    assert worst_of([unknown("who knows"), ok("right")]).verdict == "unknown"


def test_all_right_tells_all() -> None:
    whole = worst_of([ok("a"), ok("b"), not_applicable("c")])
    assert (whole.verdict, whole.text) == ("ok", "a; b")


def test_nothing_that_applies_does_not_apply() -> None:
    assert worst_of([not_applicable("c")]).text == "c"
    assert worst_of([]).verdict == "not-applicable"


def test_what_cannot_be_read_is_unknown() -> None:
    view = CapturedHost(files={}, collected=["/a"])
    judged = tell(lambda: ok(view.need("/a")))
    assert (judged.verdict, judged.text) == ("unknown", "/a does not exist")


def test_words_of_a_step_are_quoted(says: Says) -> None:
    assert command("ip", "link", "set", "a b;id").text == "ip link set 'a b;id'"
    assert write("/sys/a b", "$(id)").text == "echo '$(id)' > '/sys/a b'"
