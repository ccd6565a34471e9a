"""docs/tuning-cluster.md is what the cluster checks say."""

import yaml

from plimsoll.tune.cluster.cluster_audit import all_cluster_checks
from plimsoll.tune.cluster.document import cluster_document
from plimsoll.tune.cluster.kinds import ALL_KINDS


def test_each_check_has_a_section_that_the_overview_leads_to() -> None:
    text = cluster_document()
    for check in all_cluster_checks():
        assert f"\n### {check.number} {check.name}\n" in text
        assert f"(#{check.number}-{check.name})" in text


def test_the_role_allows_reading_each_kind_and_nothing_more() -> None:
    role = yaml.safe_load(cluster_document().partition("```yaml\n")[2].partition("```")[0])
    allowed = {(group, plural) for rule in role["rules"] for group in rule["apiGroups"]
               for plural in rule["resources"]}  # fmt: skip
    assert allowed == {(kind.group, kind.plural) for kind in ALL_KINDS}
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list"}


def test_every_kind_that_is_read_is_read_for_a_check() -> None:
    assert {kind for check in all_cluster_checks() for kind in check.reads} == set(ALL_KINDS)
