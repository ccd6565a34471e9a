"""Intents for tests, as YAML documents."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import yaml

from plimsoll.text.document import parse_document
from plimsoll.tune.intent.intent import Intent

POOL = {"name": "manual", "platform": "openshift", "pool": {"role": "worker-cnf"}}
HOST = {"name": "box", "platform": "bare-metal"}
CPUS = {"cpus": {"reserved": "0", "isolated": "1-3"}}


def intent_of(text: str) -> Intent:
    """The intent that `text` is, indented or not."""
    return parse_document(Path("intent.yaml"), dedent(text)).validate(Intent)


def intent_with(base: dict[str, Any], **sections: Any) -> Intent:
    """`base` on CPUs 0 and 1-3, with further sections or others in their place."""
    return intent_of(yaml.safe_dump(CPUS | base | sections))
