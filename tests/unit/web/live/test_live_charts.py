"""The live charts as a browser draws them."""

import re
from typing import Any

import pytest
import vl_convert

from plimsoll.web.live.live_charts import POINTS, live_figures_drawn


@pytest.mark.parametrize("mpps", [0.496, 0.000238, 14.88095])
def test_a_tick_of_a_steady_rate_is_that_rate(mpps: float) -> None:
    """An axis over one value alone has one tick, which once said 0 for 0.496 Mpps."""
    rate = live_figures_drawn()[0]
    specification: dict[str, Any] = rate.specification() or {}
    points = [{"series": "sent", "at": at, "value": mpps} for at in range(3)]
    svg = vl_convert.vegalite_to_svg({**specification, "datasets": {POINTS: points}})
    labels = re.findall(r">([^<>]+)</text>", svg)
    of_rate = labels[labels.index("time in the trial (s)") + 1 : labels.index(rate_title(labels))]
    assert of_rate == [f"{mpps:.9g}"]


def rate_title(labels: list[str]) -> str:
    return next(each for each in labels if each.endswith("(Mpps)"))
