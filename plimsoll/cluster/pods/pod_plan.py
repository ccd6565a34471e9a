"""What a run's pod is to be: an intent's generator pod, or one that the experiment's lab fits."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.tune.intent.fields.cpu_list import CpuList
from plimsoll.tune.intent.hugepages import (
    PAGE_BYTES,
    Hugepages,
    Pages,
    PageSize,
    PodHugepages,
    bytes_of,
)
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod
from plimsoll.tune.intent.processor import Cpus

IMAGE_VARIABLE = "PLIMSOLL_IMAGE"
# Python with DuckDB, and the report's charts at the end of a run.
_PROGRAM_MEGABYTES = 2048
_PAGES: PageSize = "2M"
_PAGE_MEGABYTES = 2
_NOT_OURS = (
    "the experiment's intent has {count} pods of role generator, and a run is in one",
    "keep one of them, or leave all out",
)


@dataclass(frozen=True, slots=True)
class PodPlan:
    """The pod that runs, and the pods of the intent that it runs against."""

    intent: Intent
    generator: Pod
    duts: tuple[Pod, ...] = ()

    @property
    def image(self) -> str:
        """That of the generator's container."""
        assert self.generator.image is not None  # noqa: S101 - plan_pods has seen to it
        return self.generator.image


def plan_pods(experiment: Experiment, image: str | None, *, hugepages: bool) -> PodPlan:
    """The intent's pods where it has some for this, else one that fits. Raises InputError.

    `image` is of the run's container, where the intent's pod names none. Without `hugepages`
    the pod asks for none, unless the intent's does.
    """
    intent = experiment.tuning
    generators = [each for each in intent.pods if each.role == "generator"] if intent else []
    if len(generators) > 1:
        problem, remedy = _NOT_OURS
        raise InputError(problem.format(count=len(generators)), where="tuning.pods", remedy=remedy)
    if intent is None or not generators:
        pod = _with_image(_fitting_pod(experiment, hugepages=hugepages), image)
        return PodPlan(_intent_of(pod), pod)
    duts = tuple(each for each in intent.pods if each.role == "dut" and each.command)
    return PodPlan(intent, _with_image(generators[0], image), duts)


def _with_image(pod: Pod, image: str | None) -> Pod:
    chosen = image or pod.image
    if not chosen:
        raise InputError(
            "there is no image to run in the pod",
            where="--image",
            remedy=f"name one that make image has built, or set {IMAGE_VARIABLE}",
        )
    return pod.model_copy(update={"image": chosen})


def _fitting_pod(experiment: Experiment, *, hugepages: bool) -> Pod:
    """A CPU for each polling loop and one for everything else, and the memory of both programs."""
    generator, lab = experiment.effective_generator, experiment.lab
    polled = {cpu for _, cpu in (*generator.polled_cpus, *lab.polled_cpus)}
    megabytes = _memory_of(experiment)
    return Pod(
        name="plimsoll",
        role="generator",
        cpus=len(polled) + 1,
        memory=f"{_PROGRAM_MEGABYTES + (0 if hugepages else megabytes)}Mi",
        hugepages=PodHugepages(size=_PAGES, total=f"{megabytes}Mi") if hugepages else None,
    )


def _memory_of(experiment: Experiment) -> int:
    """DPDK's memory in MB, of the generator and of the lab, in whole pages."""
    lab = experiment.lab.for_frames(experiment.largest_frame_size)
    generator = experiment.effective_generator
    needed = getattr(generator, "megabytes_for", None)
    of_generator = needed(lab.port_count, 1024, 9216) if needed else 0
    return -(-(of_generator + lab.megabytes) // _PAGE_MEGABYTES) * _PAGE_MEGABYTES


def _intent_of(pod: Pod) -> Intent:
    """Of a node that has room for the pod; nothing else is expected of it."""
    cpus = Cpus(reserved=CpuList.of({0}), isolated=CpuList.of(set(range(1, 1 + int(pod.cpus)))))
    aside = None
    if pod.hugepages:
        count = bytes_of(pod.hugepages.total) // PAGE_BYTES[_PAGES]
        aside = Hugepages(default_size=_PAGES, pages=(Pages(size=_PAGES, count=count),))
    return Intent(name="plimsoll", platform="bare-metal", cpus=cpus, hugepages=aside, pods=(pod,))
