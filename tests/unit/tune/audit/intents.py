"""Intents for tests of checks: a small one, with what a test changes."""

from typing import Any

from plimsoll.tune.intent.intent import Intent


def intent(**sections: Any) -> Intent:
    """CPUs 0-1 reserved and 2-7 isolated on bare metal, unless `sections` say otherwise."""
    given = {
        "name": "declared",
        "platform": "bare-metal",
        "cpus": {"reserved": "0-1", "isolated": "2-7"},
    }
    return Intent.model_validate(given | sections)
