"""TRex's own configuration, trex_cfg.yaml: which devices its port numbers stand for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file

_MAX_MIB = 1
_REMEDY = "give the trex_cfg.yaml that TRex was started with"
# An interface that TRex pairs another with for form's sake.
_DUMMY = "dummy"


@dataclass(frozen=True, slots=True)
class TrexConfig:
    """Its interfaces in the order of its port numbers, its CPUs, and its ports' rate in Gbps."""

    interfaces: tuple[str, ...]
    cpus: tuple[int, ...] = ()
    port_gbps: float | None = None


class _Thread(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    threads: tuple[int, ...] = ()


class _Platform(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    dual_if: tuple[_Thread, ...] = ()


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    interfaces: tuple[str, ...] = Field(min_length=1, max_length=16)
    platform: _Platform = _Platform()
    port_bandwidth_gb: float | None = Field(default=None, gt=0, le=1e6)


def load_trex_config(path: Path) -> TrexConfig:
    """Read the configuration. Raises InputError naming the file."""
    try:
        document = load_yaml(read_regular_file(path, _MAX_MIB, _REMEDY).decode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", where=str(path), remedy=_REMEDY) from None
    except ValueError:
        raise InputError("is not YAML", where=str(path), remedy=_REMEDY) from None
    try:
        (entry,) = document
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{place}: {first['msg']}", where=str(path), remedy=_REMEDY) from None
    except (TypeError, ValueError):
        problem = "is not a list of one configuration"
        raise InputError(problem, where=str(path), remedy=_REMEDY) from None
    threads = (cpu for pair in read.platform.dual_if for cpu in pair.threads)
    return TrexConfig(read.interfaces, tuple(threads), read.port_bandwidth_gb)


def device_of(config: TrexConfig, port: int) -> str:
    """The device behind one of TRex's port numbers. Raises InputError where there is none."""
    if port < len(config.interfaces) and config.interfaces[port] != _DUMMY:
        return config.interfaces[port]
    raise InputError(
        f"device {port} is not one of the {len(config.interfaces)} interfaces of "
        "TRex's configuration",
        where="--device-pairs",
        remedy="give the trex_cfg.yaml that goes with this command line",
    )
