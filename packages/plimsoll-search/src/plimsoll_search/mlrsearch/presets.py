"""Goals that others have published, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# FD.io CSIT, "MLR Search", section "Search Goals" of its test methodology: 1 s trials, 21 s
# of them in all, half of which may exceed. (CSIT counts the pauses between its trials as
# part of their duration, so that seven to a load are enough for it, where we take eleven.)
_CSIT = {
    "exceed_ratio": "50%",
    "width": "0.5%",
    "initial_trial_duration": "1s",
    "final_trial_duration": "1s",
    "duration_sum": "21s",
}

PRESETS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # The non-drop and the partial drop rate.
        "csit-ndr": {"loss_ratio": "0%", **_CSIT},
        "csit-pdr": {"loss_ratio": "0.5%", **_CSIT},
        # RFC 9971, "MLRsearch Compliant with RFC 2544": unconditionally so (section 24).
        "rfc2544": {
            "loss_ratio": "0%",
            "exceed_ratio": "0%",
            "final_trial_duration": "60s",
            "duration_sum": "60s",
        },
        # RFC 9971, "MLRsearch Compliant with TST009": binary search with loss verification
        # (ETSI GS NFV-TST 009, 12.3.3), where a lossy trial is repeated once.
        "tst009": {
            "loss_ratio": "0%",
            "exceed_ratio": "50%",
            "final_trial_duration": "60s",
            "duration_sum": "120s",
        },
    }
)
