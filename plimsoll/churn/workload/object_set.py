"""How many objects of which kind a namespace of the workload has."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from plimsoll.text.mistakes import mistake

PodKind = Literal["server", "client", "dpdk"]
POD_KINDS: tuple[PodKind, ...] = ("server", "client", "dpdk")
_MOST = 500
_Number = Annotated[StrictInt, Field(ge=0, le=_MOST)]
# Each server pod mounts four of either; a set that has fewer mounts what it has.
MOST_MOUNTED = 4


class PodGroup(BaseModel):
    """`deployments` of `replicas` pods each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deployments: _Number = 0
    replicas: Annotated[StrictInt, Field(ge=1, le=_MOST)] = 1

    @property
    def pods(self) -> int:
        """All of them."""
        return self.deployments * self.replicas


class ObjectSet(BaseModel):
    """The objects of one namespace, by default the core RDS workload's: 128 of them, 52 pods.

    `sriov_networks` and `routes` are OpenShift's kinds; a cluster that does not serve them goes
    without, and the result says so. A load balancer is a service of that type.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    secrets: _Number = 42
    config_maps: _Number = 30
    network_policies: Annotated[StrictInt, Field(ge=0, le=3)] = 3
    sriov_networks: _Number = 3
    services: _Number = 20
    load_balancers: _Number = 1
    routes: _Number = 2
    server: PodGroup = PodGroup(deployments=15, replicas=2)
    client: PodGroup = PodGroup(deployments=10, replicas=2)
    dpdk: PodGroup = PodGroup(deployments=2, replicas=1)

    @model_validator(mode="after")
    def _has_pods(self) -> Self:
        if self.pods == 0:
            raise mistake("has no pods, whose readiness is measured", "give it a deployment")
        return self

    def group(self, kind: PodKind) -> PodGroup:
        """The deployments of a kind of pod."""
        groups = {"server": self.server, "client": self.client, "dpdk": self.dpdk}
        return groups[kind]

    @property
    def pods(self) -> int:
        """Of one namespace."""
        return sum(self.group(kind).pods for kind in POD_KINDS)

    @property
    def objects(self) -> int:
        """That the driver makes in a namespace: what controllers make of them is not counted."""
        return (
            self.secrets
            + self.config_maps
            + self.network_policies
            + self.sriov_networks
            + self.services
            + self.load_balancers
            + self.routes
            + sum(self.group(kind).deployments for kind in POD_KINDS)
        )


# By the names under which an experiment may ask for them.
RDS_CORE = ObjectSet()
SMALL = ObjectSet(
    secrets=4,
    config_maps=4,
    network_policies=1,
    sriov_networks=0,
    services=2,
    load_balancers=0,
    routes=0,
    server=PodGroup(deployments=2, replicas=2),
    client=PodGroup(deployments=1, replicas=2),
    dpdk=PodGroup(deployments=1, replicas=1),
)
OBJECT_SETS: dict[str, ObjectSet] = {"rds-core": RDS_CORE, "small": SMALL}
