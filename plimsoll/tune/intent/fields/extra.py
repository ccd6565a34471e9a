"""What an intent adds to the objects that are rendered of it, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator

from plimsoll.text.mistakes import brief, mistake
from plimsoll.tune.intent.fields.free_fields import FreeFields
from plimsoll.tune.intent.fields.section import ObjectName, Section

RenderedKind = Literal[
    "ConfigMap",
    "Console",
    "KubeletConfig",
    "MachineConfig",
    "MachineConfigPool",
    "Namespace",
    "Network",
    "NetworkAttachmentDefinition",
    "PerformanceProfile",
    "Pod",
    "Role",
    "RoleBinding",
    "SecurityContextConstraints",
    "ServiceAccount",
    "SriovNetwork",
    "SriovNetworkNodePolicy",
    "Tuned",
]
_METADATA = ("annotations", "labels")
_HOLDERS = ("data", "metadata", "spec")
_IDENTITY = {
    "apiVersion": "leave it out",
    "kind": "leave it out",
    "status": "leave it out: it is the cluster's to write",
}


def _check_patch(patch: FreeFields) -> FreeFields:
    """An object's identity, and the status that a cluster gives it, cannot be added."""
    for name, remedy in _IDENTITY.items():
        if name in patch:
            raise mistake("is not to be changed", remedy, name)
    for name in _HOLDERS:
        if not isinstance(patch.get(name, {}), Mapping):
            raise mistake(f"found {brief(patch[name])}", "write its fields", name)
    metadata = patch.get("metadata", {})
    for name in metadata if isinstance(metadata, Mapping) else ():
        if name not in _METADATA:
            raise mistake("is not to be changed", "write annotations and labels", "metadata", name)
    return patch


Patch: TypeAlias = Annotated[FreeFields, AfterValidator(_check_patch)]


class Extra(Section):
    """A change of the rendered objects of one kind, or of one of them."""

    kind: RenderedKind
    """The kind of the rendered objects that it changes."""
    name: ObjectName | None = None
    """The one object that it changes; left out, all of that kind."""
    patch: Patch
    """A JSON merge patch (RFC 7396): fields take the place of rendered ones, lists whole, null
    takes a field out."""

    def is_for(self, kind: str, name: str) -> bool:
        """Whether it changes the object of that kind and name."""
        return self.kind == kind and self.name in (None, name)

    @property
    def title(self) -> str:
        """What it changes: PerformanceProfile fast."""
        return f"{self.kind} {self.name}" if self.name else f"each {self.kind}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The fields that it sets or takes out: spec.net.devices."""
        return tuple(_paths(self.patch, ""))


def _paths(patch: Mapping[str, Any], before: str) -> Iterator[str]:
    for name, value in patch.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def merged(given: Any, patch: Any) -> Any:
    """`given` with the JSON merge patch on it (RFC 7396, section 2); `given` stays as it is."""
    if not isinstance(patch, Mapping):
        return patch
    fields = dict(given) if isinstance(given, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            fields.pop(name, None)
        else:
            fields[name] = merged(fields.get(name), value)
    return fields
