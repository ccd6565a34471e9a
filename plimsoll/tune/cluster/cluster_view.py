"""What can be read of a cluster, alike from its API and from a must-gather."""

from __future__ import annotations

from abc import ABC, abstractmethod

from plimsoll.tune.cluster.kinds import Kind
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.kubernetes.kube_object import KubeObject, name_of


class ClusterView(ABC):
    """A cluster's objects by kind. Nothing is ever written. `where` names the source."""

    where: str = "this cluster"

    @abstractmethod
    def listed(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...] | Unread:
        """All objects of `kind`, in one namespace or in all.

        An Unread of cause "absent" says that the cluster has no such kind at all; any other
        that it is unknown.
        """

    def need(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """The objects, none where the cluster does not have the kind. Raises CannotRead."""
        found = self.listed(kind, namespace)
        if not isinstance(found, Unread):
            return found
        if found.cause == "absent":
            return ()
        raise CannotRead(found)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> KubeObject | None:
        """The object of that name; None where there is none. Raises CannotRead."""
        found = (each for each in self.need(kind, namespace) if name_of(each) == name)
        return next(found, None)

    def knows(self, kind: Kind) -> bool:
        """Whether the cluster has the kind; assumed to have it where that is unknown."""
        found = self.listed(kind)
        return not (isinstance(found, Unread) and found.cause == "absent")
