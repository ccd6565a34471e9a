"""An intent as files: for OpenShift its manifests, for a host its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plimsoll.tune.expected.kernel_argument import Vendor
from plimsoll.tune.intent.cluster import Pool
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.bare_metal.housekeeping import (
    render_housekeeping,
    render_irqbalance,
    render_node_pages,
)
from plimsoll.tune.render.bare_metal.ports import render_ports
from plimsoll.tune.render.bare_metal.tuned import (
    render_command_line,
    render_sysctls,
    render_tuned_profile,
)
from plimsoll.tune.render.files.refusal import check_plain_words, refuse
from plimsoll.tune.render.files.rendered_file import RenderedFile, check_extra, extended
from plimsoll.tune.render.openshift.cluster_services import (
    render_console,
    render_monitoring,
    render_network_diagnostics,
)
from plimsoll.tune.render.openshift.kubelet_config import (
    render_kubelet_config,
    render_kubelet_housekeeping,
)
from plimsoll.tune.render.openshift.machine_config_pool import (
    render_machine_config_pool,
    render_workload_partitioning,
)
from plimsoll.tune.render.openshift.namespace import render_namespaces, render_security_constraints
from plimsoll.tune.render.openshift.networks import render_networks, render_sriov_policies
from plimsoll.tune.render.openshift.operator_rules import check_operator_rules
from plimsoll.tune.render.openshift.performance_profile import (
    render_performance_profile,
    render_tuned_patch,
)
from plimsoll.tune.render.openshift.pod import render_pods
from plimsoll.tune.render.readme import render_bios_checklist, render_readme
from plimsoll.tune.render.trex_config import render_trex_config

# A new manifest is one more function, and one more line here. In the order of application.
_FOR_A_POOL: tuple[Callable[[Intent, Pool], Iterator[RenderedFile]], ...] = (
    render_machine_config_pool,
    render_performance_profile,
    render_tuned_patch,
    render_workload_partitioning,
    render_kubelet_housekeeping,
    render_monitoring,
    render_network_diagnostics,
    render_console,
    render_namespaces,
    render_sriov_policies,
    render_networks,
    render_security_constraints,
    render_pods,
    render_kubelet_config,
)
_FOR_A_HOST: tuple[Callable[[Intent], Iterator[RenderedFile]], ...] = (
    render_tuned_profile,
    render_sysctls,
    render_node_pages,
    render_housekeeping,
    render_irqbalance,
    render_ports,
)
_FOR_ALL: tuple[Callable[[Intent], Iterator[RenderedFile]], ...] = (
    render_trex_config,
    render_bios_checklist,
)


def render(
    intent: Intent, *, origin: str = "", vendor: Vendor = "intel"
) -> tuple[RenderedFile, ...]:
    """All files, README.md first, then in the order in which they are applied.

    `origin` is what the intent was read from, for the files' first lines; `vendor` who made
    the processors, which matters to a host's arguments alone. The same intent makes the same
    bytes. Raises InputError for what an operator would refuse, and for words that a shell or
    TuneD would act on.
    """
    where = _printable(origin) or intent.name
    refuse(list(check_plain_words(intent)), where)
    files = [*_platform_files(intent, where, vendor)]
    files += [each for function in _FOR_ALL for each in function(intent)]
    header = f"From the intent {intent.name}{f' ({where})' if origin else ''}."
    commented = [each.with_header(f"{header} By plimsoll tune render.") for each in files]
    return (render_readme(intent, commented, header, vendor), *commented)


def _platform_files(intent: Intent, where: str, vendor: Vendor) -> Iterator[RenderedFile]:
    if intent.platform == "openshift" and intent.pool is not None:
        refuse(list(check_operator_rules(intent, intent.pool)), where)
        files = [file for function in _FOR_A_POOL for file in function(intent, intent.pool)]
        refuse(list(check_extra(intent, files)), where)
        yield from (extended(intent, each) for each in files)
        return
    yield from render_command_line(intent, vendor)
    for for_a_host in _FOR_A_HOST:
        yield from for_a_host(intent)


def _printable(text: str) -> str:
    """A file's name may hold a line end, and then more than a comment."""
    return "".join(each if each.isprintable() else "?" for each in text)
