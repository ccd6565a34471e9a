"""The sentence that says by what the platform limits a load line."""

from plimsoll.attribution.incidents.cause import CauseKind, Confidence
from plimsoll.attribution.ranking.rank import RankedCause
from plimsoll.attribution.ranking.summary import CausesSummary
from plimsoll.benchmark.load_line.platform_limit import platform_sentence


def row(  # noqa: PLR0917
    name: str,
    share: float,
    worst_ns: int | None,
    confidence: Confidence,
    kind: CauseKind = "task",
    owner: str = "dut",
) -> RankedCause:
    return RankedCause(
        kind,
        name,
        owner,
        1,
        False,
        1,
        1,
        share,
        None,
        worst_ns,
        worst_ns,
        confidence,
        None,  # type: ignore[arg-type]
    )


def sentence(*rows: RankedCause, line_pps: float | None = 1.5e6) -> str:
    summary = CausesSummary(rows, (), (), (), 0, 3, 1000, 0, 0)
    return platform_sentence(3e6, line_pps, summary)


def test_what_the_kernel_saw_is_named_the_costliest_first() -> None:
    found = sentence(
        row("python3", 0.3, 2_000_000, "partial"),
        row("kworker/1:2", 0.61, 4_100_000, "exact"),
        row("hypervisor", 0.05, None, "counter", "hypervisor-steal"),
        row("python3", 0.04, 9_000_000, "exact", owner="tester"),
    )
    assert found == (
        "Forwards up to 3 Mpps per direction; meets its criteria at 1.5 Mpps, limited by "
        "preemptions of CPU 1 of up to 4.1 ms (kworker/1:2, 61%; python3, 30%)."
    )


def test_what_only_a_counter_tells_is_named_without_a_length_that_nobody_saw() -> None:
    found = sentence(row("the hypervisor", 0.97, None, "counter", "hypervisor-steal"))
    assert found == (
        "Forwards up to 3 Mpps per direction; meets its criteria at 1.5 Mpps, limited by "
        "preemptions of CPU 1 (the hypervisor, 97%, by its counter alone)."
    )


def test_a_load_that_never_passed_is_said_to_be_none() -> None:
    found = sentence(row("java", 1.0, 7_000_000, "exact"), line_pps=None)
    assert "; meets its criteria at no load, limited by preemptions of CPU 1 of up to 7 ms" in found
