"""A server with the kinds that an audit reads, and a client that may write to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.cluster.control_plane import ControlPlane, control_plane, find_parts
from tests.integration.cluster.crds import find_crds
from tests.integration.cluster.owner import Owner


@dataclass(frozen=True)
class ServedCluster:
    """The server, its owner, and the owner's kubeconfig."""

    plane: ControlPlane
    owner: Owner
    config: Path


@contextmanager
def served_cluster(folder: Path) -> Iterator[ServedCluster]:
    """A server without any object. Raises CannotServe where something of it is missing."""
    parts, crds = find_parts(), find_crds()
    with control_plane(parts, folder) as plane:
        config = folder / "owner.kubeconfig"
        config.write_text(plane.owners_kubeconfig())
        owner = Owner(config)
        owner.install(crds)
        yield ServedCluster(plane, owner, config)
