"""What the kubelet is given beyond the intent's own fields, as the profile's annotation has it."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.tune.intent.fields.free_fields import FreeFields
from plimsoll.tune.kubernetes.quantity import parse_quantity

# What the Node Tuning Operator sets whatever the annotation says (openshift/cluster-node-tuning-
# operator, components/kubeletconfig/kubeletconfig.go), and which field of the intent means it.
_OPERATORS = {
    "apiVersion": "leave it out",
    "kind": "leave it out",
    "cpuManagerPolicy": "leave it out: a performance profile makes it static",
    "cpuManagerReconcilePeriod": "leave it out: a performance profile makes it 5s",
    "reservedSystemCPUs": "use cpus.reserved",
    "topologyManagerPolicy": "use numa_policy",
    "memoryManagerPolicy": "use numa_policy: restricted and single-numa-node make it Static",
}

_AMOUNTS = (
    ("systemReserved", "memory"),
    ("kubeReserved", "memory"),
    ("evictionHard", "memory.available"),
)


def _check_kubelet(given: FreeFields) -> FreeFields:
    for name in given:
        if name in _OPERATORS:
            raise mistake("is the operator's to set", _OPERATORS[name], name)
    for name, field in _AMOUNTS:
        _check_amount(given, name, field)
    return given


def _check_amount(given: FreeFields, name: str, field: str) -> None:
    """The operator adds them up, for what it reserves on the first NUMA node."""
    fields = given.get(name, {})
    if not isinstance(fields, dict):
        raise mistake(f"found {brief(fields)}", "write its fields: {memory: 11Gi}", name)
    try:
        parse_quantity(fields.get(field, "0"))
    except ValueError as error:
        raise mistake(str(error), "write for example 11Gi", name, field) from None


KubeletFields: TypeAlias = Annotated[FreeFields, AfterValidator(_check_kubelet)]
