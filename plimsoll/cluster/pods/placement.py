"""An experiment as it is in a pod: on the CPUs that the pod got, with the devices it was handed.

The kubelet's static CPU manager chooses the CPUs of a guaranteed pod, and the SR-IOV device
plugin its virtual functions; both are known in the pod alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.text.field_path import FieldPath

# As the SR-IOV device plugin names them: PCIDEVICE_OPENSHIFT_IO_TESTER=0000:3b:02.1,0000:3b:02.2.
_PREFIX = "PCIDEVICE_"
# In devargs: {openshift.io/tester} for the first function, {openshift.io/tester:1} for the next.
_DEVICE = re.compile(r"\{([A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+)(?::(\d{1,3}))?\}", re.ASCII)


def cpu_fields(polled: Sequence[tuple[str, int]], allowed: Collection[int]) -> tuple[SetField, ...]:
    """What to set so that loops poll CPUs that are `allowed`; nothing where they do.

    `polled` has each polled CPU with its field. In their order they get the last ones of the
    pod's, so that the first are left to everything else. Raises MachineError where the pod has
    too few.
    """
    polled_cpus = sorted({cpu for _, cpu in polled})
    if set(polled_cpus) <= set(allowed):
        return ()
    if len(polled_cpus) >= len(allowed):
        raise MachineError(
            f"{len(polled_cpus)} CPUs are polled, and the pod has {format_cpu_list(allowed)}, of "
            "which one is left to everything else",
            where="pod",
            remedy=f"give the pod {len(polled_cpus) + 1} CPUs",
        )
    given = dict(zip(polled_cpus, sorted(allowed)[-len(polled_cpus) :], strict=True))
    return tuple(SetField(FieldPath.parse(place), given[cpu]) for place, cpu in polled)


def device_fields(
    experiment: Mapping[str, object], environment: Mapping[str, str]
) -> tuple[SetField, ...]:
    """What to set so that `{RESOURCE}` in the lab's devargs is the pod's function of that name.

    Raises InputError for one that the pod was not given.
    """
    lab = experiment.get("lab")
    ports = lab.get("ports") if isinstance(lab, dict) else None
    return tuple(_fields_of(ports, environment)) if isinstance(ports, list) else ()


def _fields_of(ports: Sequence[object], environment: Mapping[str, str]) -> Iterator[SetField]:
    for number, port in enumerate(ports):
        devargs = port.get("devargs") if isinstance(port, dict) else None
        if isinstance(devargs, str) and _DEVICE.search(devargs):
            place = f"lab.ports.{number}.devargs"
            yield SetField(FieldPath.parse(place), _with_devices(devargs, environment, place))


def _with_devices(devargs: str, environment: Mapping[str, str], place: str) -> str:
    def address(found: re.Match[str]) -> str:
        name = re.sub(r"[^A-Za-z0-9]", "_", found[1]).upper()
        given = [each for each in environment.get(_PREFIX + name, "").split(",") if each]
        number = int(found[2] or 0)
        if number >= len(given):
            raise InputError(
                f"the pod has {len(given)} devices {found[1]}, and this asks for number {number}",
                where=place,
                remedy="request as many in the pod's networks or resources",
            )
        return given[number]

    return _DEVICE.sub(address, devargs)
