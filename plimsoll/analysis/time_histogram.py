"""A histogram of times: an HdrHistogram that knows its unit and shows itself."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

from plimsoll.analysis.column import Column
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.analysis.shown import html_facts, html_note, shown
from plimsoll.generator.histogram import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS
from plimsoll.text.units import format_ns

_PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
_NOTE = "Values are in ns, each at most 0.78 % high."


class TimeHistogram(HdrHistogram):  # type: ignore[misc]  # the package has no types
    """Times in ns, with all that HdrHistogram offers: percentiles, iterators, `add`.

    A value is that of the end of its bucket, so at most 0.78 % high. `of` says what was
    timed; `unit` is "ns".
    """

    unit = "ns"

    def __init__(self, of: str, samples: HdrHistogram | None = None) -> None:
        """A copy of `samples`; without them it is empty."""
        super().__init__(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
        self.of = of
        if samples is not None and samples.get_total_count():
            self.add(samples)
            # The package takes the least value of the empty one for 0.
            self.min_value = samples.min_value

    def distribution(self) -> PlainTable:
        """The distribution function: how many samples, and what share, are up to a value.

        A row for each bucket with samples: `up_to_ns`, `count` in the bucket, and the
        `share` (0 to 1) of all samples that are no longer.
        """
        total = self.get_total_count()
        rows = [
            (
                step.value_iterated_to,
                step.count_added_in_this_iter_step,
                step.total_count_to_this_value / total,
            )
            for step in (self.get_recorded_iterator() if total else ())
        ]
        columns = (Column("up_to_ns", "integer"), Column("count", "integer"))
        return PlainTable(self.of, (*columns, Column("share", "number")), rows)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {value}" for name, value in self._facts())
        return f"<{shown(self.of)}, in ns: {facts}>"

    def _repr_html_(self) -> str:
        return html_facts(self.of, self._facts()) + html_note(_NOTE)

    def _facts(self) -> list[tuple[str, str]]:
        count = self.get_total_count()
        facts = [("samples", f"{count:,}")]
        if count:
            quantiles = self.get_percentile_to_value_dict(list(_PERCENTILES))
            facts.append(("min", format_ns(self.get_min_value())))
            facts += [(f"p{percent:g}", format_ns(quantiles[percent])) for percent in _PERCENTILES]
            facts.append(("max", format_ns(self.get_max_value())))
        return facts
