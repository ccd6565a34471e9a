"""114: whether the dataplane's pods get CPUs of their own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from plimsoll.text.counted import counted
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
)
from plimsoll.tune.cluster.dataplane_pods import dataplane_pods, is_declared_burstable
from plimsoll.tune.cluster.kinds import POD
from plimsoll.tune.cluster.object_judgement import ClusterCheck, ClusterView, judge_each, sum_up
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.kubernetes.kube_object import (
    KubeObject,
    full_name,
    parse_quantity,
    text_at,
    value_at,
)
from plimsoll.tune.kubernetes.pods import containers_of

_GUARANTEED = "Guaranteed"


def _judge(view: ClusterView, intent: Intent) -> CheckJudgement:
    pods = dataplane_pods(view, intent)
    return judge_each(
        pods,
        partial(_judge_pod, intent),
        none="no pod of the dataplane runs",
        sound="the dataplane's pods are Guaranteed, with whole CPUs",
    )


def _judge_pod(intent: Intent, pod: KubeObject) -> CheckJudgement:
    name = full_name(pod)
    if is_declared_burstable(pod, intent):
        return not_applicable(f"the intent has {name} share its CPUs")
    found = text_at(pod, "status", "qosClass")
    read = Reading(f"Pod {name} status.qosClass", found or "not set")
    if found != _GUARANTEED:
        return fail(
            f"pod {name} is {found or 'of no QoS class'}, and so shares its CPUs",
            read,
            expected=_GUARANTEED,
            steps=[advice("give every container of the pod limits that equal its requests")],
        )
    guaranteed = ok(f"pod {name} is Guaranteed", read)
    return sum_up([guaranteed, *_judge_containers(intent, pod, name)])


def _judge_containers(intent: Intent, pod: KubeObject, name: str) -> Iterator[CheckJudgement]:
    for container in containers_of(pod):
        given = value_at(container, "resources", "requests", "cpu")
        read = Reading(
            f"Pod {name} container {text_at(container, 'name')} requests.cpu", str(given)
        )
        yield _judge_cpus(intent, f"pod {name}", given, read)


def _judge_cpus(intent: Intent, pod: str, given: object, read: Reading) -> CheckJudgement:
    try:
        cpus = parse_quantity(given)
    except ValueError:
        cpus = Fraction(0)
    if cpus.denominator != 1 or cpus == 0:
        step = advice("request whole CPUs")
        return fail(
            f"{pod} asks for {given} CPUs, which it shares",
            read,
            expected="whole CPUs",
            steps=[step],
        )
    if cpus % 2 and intent.cpus.smt != "disabled":
        step = advice("request an even number of CPUs")
        requested = counted(int(cpus), "CPU")
        text = f"{pod} asks for {requested}: of one core it gets one thread, or it is refused"
        return warn(text, read, expected="whole cores, so even numbers of CPUs", steps=[step])
    return ok(f"{pod} has {counted(int(cpus), 'CPU')} of its own", read)


CHECK = ClusterCheck(
    number=114,
    name="pods-guaranteed",
    title="The dataplane's pods are Guaranteed, with whole and even CPUs",
    reads=(POD,),
    why=(
        "The kubelet gives CPUs of their own only to containers of Guaranteed pods that ask for "
        "whole CPUs. With two threads a core, an odd number leaves a stranger on the sibling; with "
        "full-pcpus-only the pod is refused."
    ),
    fix="Make limits equal to requests in every container, and CPUs whole and even.",
    sources=(
        "Kubernetes, Pod Quality of Service Classes",
        "Kubernetes, Control CPU Management Policies on the Node: static, full-pcpus-only",
    ),
    rule=_judge,
)
