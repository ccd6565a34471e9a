"""Tests have the same environment, whoever starts them."""

import os
import time

from tests.environment import plain


def test_what_is_somebodys_own_is_left_out() -> None:
    theirs = {
        **{"COLUMNS": "40", "FORCE_COLOR": "1", "KUBECONFIG": "/home/x", "AWS_PROFILE": "x"},
        **{"LC_ALL": "de_DE", "TZ": "Pacific/Chatham", "TERM": "dumb", "PYTHONOPTIMIZE": "2"},
        **{"PLIMSOLL_STATE": "/x", "PLIMSOLL_EXPORT_USER": "x", "http_proxy": "http://proxy"},
    }
    kept = {"PATH": "/bin", "HOME": "/root", "PLIMSOLL_ENGINE": "/x", "PYTHONPATH": "x"}
    assert plain(theirs | kept) == {
        **kept,
        **{"TERM": "xterm", "LANG": "C.UTF-8", "TZ": "UTC", "http_proxy": "http://proxy"},
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost,::1"),
    }


def test_these_tests_have_it() -> None:
    assert "COLUMNS" not in os.environ
    assert (os.environ["TERM"], os.environ["TZ"]) == ("xterm", "UTC")
    assert time.timezone == 0
