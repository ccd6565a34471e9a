"""Settings of Kubernetes' own client, from a kubeconfig or from the pod.

No redirection is followed, and no login is renewed here: the package would send a refresh token
without verifying who gets it, and to wherever the issuer redirects.
"""

from __future__ import annotations

import os
from typing import Any

from urllib3 import Retry

from plimsoll.errors import InputError

# Where the user chooses the server.
SERVER_SETTING = "the kubeconfig (clusters, server)"
# urllib3's own number of tries.
TRIES = 3
_DEFAULT = "~/.kube/config"


def kubeconfig_files(given: str | None) -> str | None:
    """The files that `given` or $KUBECONFIG names; None leaves it to the package.

    Read here, for the package reads the variable once, when it is imported.
    """
    return given or os.environ.get("KUBECONFIG") or None


def shown_kubeconfig(given: str | None) -> str:
    """The same, for messages."""
    return kubeconfig_files(given) or _DEFAULT


def client_settings(
    context: str | None, kubeconfig: str | None, retries: Retry | None = None
) -> Any:
    """The package's Configuration: by a kubeconfig, or in a pod by its own account.

    `retries` must take a redirection for an answer like any other, as the default does.
    Raises InputError for a login that has expired, and what the package raises.
    """
    from kubernetes import client, config  # noqa: PLC0415

    settings = client.Configuration()
    settings.retries = retries or Retry(TRIES, redirect=0, raise_on_redirect=False)
    inside = "KUBERNETES_SERVICE_HOST" in os.environ
    if inside and context is None and kubeconfig_files(kubeconfig) is None:
        config.load_incluster_config(settings)
    else:
        _load(settings, context, kubeconfig)
    return settings


def _load(settings: Any, context: str | None, kubeconfig: str | None) -> None:
    from kubernetes.config import kube_config  # noqa: PLC0415

    class Loader(kube_config.KubeConfigLoader):  # type: ignore[misc]  # it has no types
        """As the package's own, but for logins that it would renew itself."""

        def _refresh_oidc(self, provider: Any) -> None:
            raise InputError(
                "the login has expired",
                where=shown_kubeconfig(kubeconfig),
                remedy="renew it, as by kubectl version, or log in again",
            )

    files = kubeconfig_files(kubeconfig) or kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    merged = kube_config.KubeConfigMerger(files).config
    if merged is None:
        raise kube_config.ConfigException("there is no such file")
    Loader(merged, active_context=context, config_base_path=None).load_and_set(settings)
