"""What `make kueue` and `make multus` left: programs of a cluster, and their custom resources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.integration.cluster.control_plane import BUILT, CannotServe, find_program


def find_addon(name: str) -> Path:
    """The program. Raises CannotServe where there is none."""
    program = find_program(name)
    if program is None or not _definitions(name).is_dir():
        raise CannotServe(f"there is no {name} (make {name})")
    return program


def crds_of(name: str) -> Iterator[dict[str, Any]]:
    """The definitions of its custom resources."""
    for path in sorted(_definitions(name).iterdir()):
        for document in yaml.safe_load_all(path.read_text()):
            if document and document["kind"] == "CustomResourceDefinition":
                yield document


def _definitions(name: str) -> Path:
    return BUILT / f"{name}-crds"
