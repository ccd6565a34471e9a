"""The TuneD profiles that a cluster's Tuned objects hold, and what each stands on.

People rename the rendered profile, as a second pool needs, put it into an object with others,
or stand a profile of their own on it: what counts is what a node's profile leads to.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.tune.cluster.kinds import TUNED
from plimsoll.tune.cluster.object_judgement import ClusterView
from plimsoll.tune.cluster.objects.expected_object import ExpectedObject
from plimsoll.tune.cluster.objects.text_meaning import tuned_includes, tuned_sections
from plimsoll.tune.kubernetes.kube_object import KubeObject, items_at, text_at
from plimsoll.tune.render.files.rendered_file import Manifest
from plimsoll.tune.render.openshift.performance_profile import NAMESPACE, tuned_text

Sections = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class TunedProfiles:
    """By name; those that a cluster has outside Tuned objects, TuneD's own, are not in it."""

    sections: Mapping[str, Sections]

    def leads_to(self, name: str, goal: str) -> bool:
        """Whether the profile is `goal`, or includes it, whatever is between."""
        return goal in self._chain(name)

    def merged(self, name: str, down_to: str) -> dict[str, dict[str, str]]:
        """The profile with all that it includes, the later over the earlier, up to `down_to`."""
        found: dict[str, dict[str, str]] = {}
        for each in reversed(self._chain(name, stop=down_to)):
            for section, options in self.sections.get(each, {}).items():
                found.setdefault(section, {}).update(options)
        found["main"] = {"include": down_to}
        return found

    def _chain(self, name: str, stop: str = "") -> list[str]:
        """The profile, then what it includes, the strongest first; each once."""
        chain: list[str] = []
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each in chain or each == stop:
                continue
            chain.append(each)
            for include in tuned_includes(self.sections.get(each, {})):
                waiting.extend(self._candidates(include))
        return chain

    def _candidates(self, include: str) -> list[str]:
        """The profile; all that it may be, where TuneD works the end of the name out."""
        start, variable, _ = include.partition("${")
        if not variable:
            return [include]
        return [each for each in self.sections if start and each.startswith(start)]


def tuned_profiles(view: ClusterView) -> TunedProfiles:
    """Those of all Tuned objects. Raises CannotRead."""
    found = {}
    for each in view.need(TUNED, NAMESPACE):
        for profile in items_at(each, "spec", "profile"):
            try:
                found[text_at(profile, "name")] = tuned_sections(text_at(profile, "data"))
            except ValueError:
                continue
    return TunedProfiles(found)


@dataclass(frozen=True, slots=True)
class RenamedPatch:
    """A Tuned object that stands on the operator's profile, under whatever name.

    `profile` is that of its profiles; `expected` and `found` are alike in names and in what is
    included, so that what is left are differences in what they set.
    """

    profile: str
    expected: ExpectedObject
    found: KubeObject


def renamed_patches(
    view: ClusterView, expected: ExpectedObject, operators: str
) -> Iterator[RenamedPatch]:
    """The objects that could be `expected`, which stands on the profile `operators`."""
    profiles = tuned_profiles(view)
    for each in view.need(TUNED, NAMESPACE):
        names = [text_at(one, "profile") for one in items_at(each, "spec", "recommend")]
        for name in dict.fromkeys(names):
            if name != operators and profiles.leads_to(name, operators):
                merged = profiles.merged(name, operators)
                yield RenamedPatch(name, _renamed(expected, each, name), _flat(each, name, merged))


def _renamed(expected: ExpectedObject, found: KubeObject, profile: str) -> ExpectedObject:
    """Its priority is that of its own name: another's is whatever makes it win."""
    manifest: Manifest = copy.deepcopy(expected.manifest)
    manifest["metadata"]["name"] = text_at(found, "metadata", "name")
    manifest["spec"]["profile"][0]["name"] = profile
    manifest["spec"]["recommend"][0] |= {"profile": profile}
    del manifest["spec"]["recommend"][0]["priority"]
    return ExpectedObject(expected.kind, manifest, expected.meanings, expected.required)


def _flat(found: KubeObject, profile: str, merged: Sections) -> KubeObject:
    given: dict[str, Any] = copy.deepcopy(dict(found))
    given["spec"]["profile"] = [{"name": profile, "data": tuned_text(merged)}]
    return given
