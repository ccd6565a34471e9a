"""Patterns of paths: what they name, and what they do not."""

import pytest

from plimsoll.tune.host.capture.capture_privacy import matches, parents


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/proc/cmdline", "/proc/cmdline", True),
        ("/proc/cmdline", "/proc/1/cmdline", False),
        ("/proc/*/status", "/proc/1/status", True),
        ("/proc/*/status", "/proc/1/task/1/status", False),
        ("/sys/cpu[0-9]*/online", "/sys/cpu12/online", True),
        ("/sys/cpu[0-9]*/online", "/sys/cpufreq/online", False),
        ("/sys/fs/cgroup/**/cpu.max", "/sys/fs/cgroup/cpu.max", True),
        ("/sys/fs/cgroup/**/cpu.max", "/sys/fs/cgroup/a/b/cpu.max", True),
        ("/sys/fs/cgroup/**/cpu.max", "/sys/fs/cgroup/a/b/cpu.maximum", False),
        ("/home/**", "/home/me/secret", True),
        # A dot is a dot, and nothing that a name holds is an expression.
        ("/a.b", "/axb", False),
        ("/a(b)+", "/a(b)+", True),
    ],
)
def test_a_pattern_names_whole_paths(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_the_directories_to_list_are_those_before_a_wild_name() -> None:
    assert parents("/sys/cpu[0-9]*/state*/name") == ("/sys", "/sys/cpu[0-9]*")
    assert parents("/proc/cmdline") == ()
