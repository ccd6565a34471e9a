"""Matrices as files, of a simulated DUT that carries the maximum: two trials, and it is found."""

from pathlib import Path
from typing import Any

import yaml

EXPERIMENT: dict[str, Any] = {
    "lab": {"kind": "simulated", "model": {"kind": "fixed-capacity", "capacity": "1Mpps"}},
    "profile": {"streams": [{"name": "load", "role": "load", "rate": "1pps", "flows": 4}]},
    "trial": {"drain": "100ms", "warmup": None},
    "search": {
        "minimum": "10kpps",
        "maximum": "20kpps",
        "duration": "500ms",
        "validation": {"duration": "500ms"},
    },
}


def write_matrix(folder: Path, matrix: dict[str, Any], **changed: Any) -> Path:
    """The experiment, with this section, and other sections changed."""
    path = folder / "sizes.yaml"
    path.write_text(yaml.safe_dump({**EXPERIMENT, **changed, "matrix": matrix}, sort_keys=False))
    return path
