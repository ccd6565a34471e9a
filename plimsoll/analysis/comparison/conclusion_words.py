"""Conclusions in words: one of them, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.record.results.conclusion import Conclusion, ConclusionKind
from plimsoll.text.units import format_ratio

# The sign of a page for each.
MARKS: dict[ConclusionKind, str] = {
    "better": "pass",
    "worse": "fail",
    "same": "none",
    "cannot tell": "invalid",
}
# The first of them that there is marks a page.
_GRAVEST: tuple[ConclusionKind, ...] = ("worse", "better", "cannot tell", "same")


def conclusion_words(of: Conclusion) -> str:
    """ "better", "worse", "same within 0.5 %" or "cannot tell"."""
    return kind_words(of.kind, of.within)


def kind_words(kind: ConclusionKind, within: float) -> str:
    """The same of a kind and its share."""
    return f"same within {format_ratio(within)}" if kind == "same" else kind


def gravest(of: Sequence[Conclusion]) -> Conclusion:
    """The one by which all of them are marked. Raises StopIteration without any."""
    return next(each for kind in _GRAVEST for each in of if each.kind == kind)


def counted_conclusions(of: Sequence[Conclusion]) -> str:
    """How many of each kind, none left out: "1 better, 0 worse, 2 the same within 1 %, …"."""
    said = counted_kinds([each.kind for each in of], max(each.within for each in of))
    needed = what_would_tell(of)
    return f"{said} ({needed})" if needed else said


def counted_kinds(kinds: Sequence[ConclusionKind], within: float) -> str:
    """How many of each kind, with the share that counts as no difference."""
    found = Counter(kinds)
    return (
        f"{found['better']} better, {found['worse']} worse, {found['same']} the same within "
        f"{format_ratio(within)}, {found['cannot tell']} cannot tell"
    )


def what_would_tell(of: Sequence[Conclusion]) -> str:
    """What those need that cannot tell: "about 6 repetitions a side would tell"."""
    return "; ".join(_needed(of))


def _needed(of: Sequence[Conclusion]) -> Iterator[str]:
    repeated = [each.repetitions for each in of if each.needs == "repetitions"]
    counts = sorted({each for each in repeated if each is not None})
    if counts:
        numbers = " to ".join(str(each) for each in dict.fromkeys((counts[0], counts[-1])))
        yield f"about {numbers} repetitions a side would tell"
    if None in repeated:
        yield "at this spread more repetitions are unlikely to tell"
    if any(each.needs == "reach" for each in of):
        yield (
            "the tester or search.maximum limits the load line, so a faster tester or a higher "
            "search.maximum would tell"
        )
    if any(each.needs == "values" for each in of):
        yield "a value of every run on both sides would tell"
