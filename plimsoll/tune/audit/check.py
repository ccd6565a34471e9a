"""A check: one question about a host, judged against the declared intent."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.tune.audit.finding import (
    CheckFinding,
    CheckGroup,
    CheckJudgement,
    fitted,
    not_applicable,
    owner_of,
    tell,
)
from plimsoll.tune.audit.without_intent import HostRule, IntentRule, listed_readings, readings
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

# What plimsoll.tune.fit.topology.read_topology reads.
TOPOLOGY = (
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/cpu[0-9]*/topology/core_cpus_list",
    "/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list",
    "/sys/devices/system/node/online",
    "/sys/devices/system/node/node[0-9]*/cpulist",
    "/sys/devices/system/node/node[0-9]*/meminfo",
    "/proc/meminfo",
    "/sys/bus/pci/devices/*/numa_node",
    "/sys/bus/pci/devices/*/vendor",
    "/sys/class/net/*/device/numa_node",
    "/sys/class/net/*/mtu",
)
# The links that it follows where it looks for ports.
TOPOLOGY_LINKS = ("/sys/class/net/*",)

_NOTHING_READ = "of what it is about, nothing can be read here without an intent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What it asks and why, in words that `make docs` shows, and the rule that answers.

    `reads` are the files, `links` the symbolic links and `lists` the directories, as patterns
    of plimsoll.tune.host.capture.capture_privacy; a pattern's `*` lists the directory before it
    too. `commands` are forms of plimsoll.tune.host.view.commands. Together they are all that
    the rule may read, and what `plimsoll tune capture` therefore collects; add TOPOLOGY to
    `reads` where the rule calls read_topology, and TOPOLOGY_LINKS to `links` where it gives it
    ports. `fix` says in prose how to set it right; a finding's steps say it for the host at
    hand. Exactly one of `rule` and `host_rule` is given. Next to a `rule`, `without_intent` is
    what can be said of a host that has no intent.
    """

    number: int
    name: str
    group: CheckGroup
    title: str
    reads: tuple[str, ...]
    links: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    why: str
    fix: str
    sources: tuple[str, ...]
    rule: IntentRule | None = None
    host_rule: HostRule | None = None
    without_intent: HostRule | None = None

    def __post_init__(self) -> None:
        if (self.rule is None) == (self.host_rule is None):
            raise ValueError(f"check {self.number} takes one of rule and host_rule")

    def judge(self, view: HostView, intent: Intent | None, no_intent: str = "") -> CheckFinding:
        """The finding; `no_intent` says why there is no intent, where it is None.

        What cannot be read makes the verdict unknown; nothing is raised for it.
        """
        found = tell(lambda: self._judgement(view, intent, no_intent))
        return self._finding(view, intent, found)

    def look(self, view: HostView) -> CheckFinding:
        """The finding of a host without an intent: what no dataplane wants, or what was read."""
        judge = self.host_rule or self.without_intent
        found = not_applicable("") if judge is None else tell(lambda: judge(view))
        if found.verdict == "not-applicable":
            read = readings(view, tuple(each for each in self.reads if each not in TOPOLOGY))
            text = "; ".join(each for each in (found.text, listed_readings(read)) if each)
            found = not_applicable(text or _NOTHING_READ, *read)
        return self._finding(view, None, found)

    def _finding(
        self, view: HostView, intent: Intent | None, found: CheckJudgement
    ) -> CheckFinding:
        return CheckFinding(
            number=self.number,
            name=self.name,
            group=self.group,
            title=self.title,
            verdict=found.verdict,
            text=found.text,
            read=found.read,
            expected=found.expected,
            steps=fitted(found.steps, owner_of(view, intent)) if found.steps else (),
            why=self.why,
            fix=self.fix,
            sources=self.sources,
        )

    def _judgement(self, view: HostView, intent: Intent | None, no_intent: str) -> CheckJudgement:
        if self.host_rule is not None:
            return self.host_rule(view)
        if intent is None or self.rule is None:
            return not_applicable(no_intent or "no intent is given")
        return self.rule(view, intent)
