"""Plugfests as files, of simulated DUTs that carry the search's maximum: two trials each."""

from pathlib import Path
from typing import Any

import yaml

from tests.unit.methods.matrix.matrix_files import EXPERIMENT

# Of the search's two ends, whichever the DUT is.
FAST: dict[str, Any] = {"lab": EXPERIMENT["lab"]}
SLOW: dict[str, Any] = {"lab": EXPERIMENT["lab"], "settings": {"search.maximum": "15kpps"}}
# No such card: known before anything is started.
ABSENT: dict[str, Any] = {
    "lab": {
        "kind": "external",
        "ports": [{"devargs": "0000:ff:1f.6"}, {"devargs": "0000:ff:1f.7"}],
        "line_rate": "10Gbps",
    }
}


def write_plugfest(folder: Path, section: dict[str, Any], **changed: Any) -> Path:
    """The experiment without a lab, with this section and other sections changed."""
    path = folder / "fest.yaml"
    data = {**EXPERIMENT, **changed, "plugfest": section}
    data.pop("lab")
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path
