"""The interface every target implements: a spec says what, a config says how, a plan shows the lowering."""

import difflib
import hashlib
import re
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from oscsim.counts import Counts
from oscsim.errors import ConfigError, TargetUnavailable
from oscsim.io import canonical_json
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec


class TargetConfig(BaseModel):
    """How a target runs a layer: immutable; an unknown option is an error, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Config = TypeVar("Config", bound=TargetConfig)


class Row(dict[str, Any]):
    """A JSON object of a plan that prints as one line for people.

    >>> str(Row("2 x 1 nH", {"count": 2, "value": 1e-9}))
    '2 x 1 nH'
    """

    def __init__(self, text: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._text = text

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class Plan:
    """The lowering made visible: printable, JSON-able, hashable; contains no backend object.

    Parameters
    ----------
    target : target name.
    spec_digest : digest of the layer.
    entries : ordered (section, {name: JSON value}); big arrays appear as fingerprints.
    """

    target: str
    spec_digest: str
    entries: tuple[tuple[str, dict[str, Any]], ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: target, spec_digest, plan_digest and the sections in order."""
        return {
            "target": self.target,
            "spec_digest": self.spec_digest,
            "plan_digest": self.digest,
            **{section: dict(values) for section, values in self.entries},
        }

    @property
    def digest(self) -> str:
        """SHA-256 over the plan's content."""
        content = [self.target, self.spec_digest, [list(entry) for entry in self.entries]]
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()

    def counts(self) -> Counts:
        """How often everything happens that costs energy: section ``counts``; needs no backend.

        >>> Plan("none", "0" * 64, (("counts", {"neuron_updates": 12}),)).counts()["neuron_updates"]
        12.0
        """
        return Counts(self["counts"])

    def __getitem__(self, section: str) -> dict[str, Any]:
        return dict(self.entries)[section]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __str__(self) -> str:
        lines = [f"{self.target} plan {self.digest[:12]} for layer {self.spec_digest[:12]}"]
        for section, values in self.entries:
            lines.append(f"  {section}")
            width = max((len(name) for name in values), default=0)
            lines += [f"    {name:<{width}}  {value}" for name, value in values.items()]
        return "\n".join(lines)


def fingerprint(array: NDArray[Any]) -> str:
    """Shape, type and the first 16 hex digits of the SHA-256 of an array, for plans.

    >>> fingerprint(np.zeros((2, 3)))
    'float64(2, 3) 17b0761f87b081d5'
    """
    content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return f"{array.dtype}{array.shape} {content}"


class Executable(ABC):
    """A lowered layer, ready to run."""

    plan: Plan

    @abstractmethod
    def run(self) -> SyncResult:
        """Run on the backend.

        Returns a result whose ``status`` says how it ended; a run that did not converge also warns
        with ``oscsim.target.ConvergenceWarning``.

        Raises
        ------
        TargetUnavailable
            the backend is not installed; the message says which command installs it.
        TargetRunError
            the backend failed; the message holds the original exception text.
        """


class ConvergenceWarning(UserWarning):
    """A run ended before its read-out converged; the result's status says how."""


@dataclass(frozen=True)
class Availability:
    """Whether a backend can be imported here; ``command`` installs it."""

    available: bool
    version: str
    reason: str
    command: str


def for_this_python(command: str) -> str:
    """A pip command spelled for the interpreter that is running: a bare pip may belong to another one.

    >>> for_this_python("pip install x && pip install y").count(sys.executable)
    2
    """
    return re.sub(r"(?<!\S)pip (?=install)", f"{sys.executable} -m pip ", command)


class AbstractTarget(ABC, Generic[Config]):
    """A backend that can run phase layers.

    Attributes
    ----------
    name : registry name.
    config_class : the target's TargetConfig.
    packages : distributions the backend needs at run time.
    install_command : the shell command that installs them.
    """

    name: str
    config_class: type[Config]
    packages: tuple[str, ...]
    install_command: str

    def config(self, **options: Any) -> Config:
        """The configuration with some options changed; no arguments gives the defaults.

        Raises
        ------
        ConfigError
            unknown option or impossible value.
        """
        try:
            return self.config_class(**options)
        except ValidationError as error:
            problem = first_problem(self.config_class, error)
            raise ConfigError(f"target '{self.name}': {problem}") from None

    def lower(self, spec: PhaseLayerSpec, config: Config | None = None) -> Executable:
        """Lower a layer: pure, imports no backend, same inputs give the same plan.

        Raises
        ------
        LoweringError
            the target cannot represent the layer.
        ConfigError
            the configuration belongs to another target.
        """
        config = self.config() if config is None else config
        if not isinstance(config, self.config_class):
            raise ConfigError(
                f"target '{self.name}': given a {type(config).__name__}, "
                f"expected the result of get_target('{self.name}').config(...)"
            )
        return self._lower(spec, config)

    @abstractmethod
    def _lower(self, spec: PhaseLayerSpec, config: Config) -> Executable: ...

    def availability(self) -> Availability:
        """Whether the needed packages are installed, by their metadata (nothing is imported)."""
        missing, versions = [], []
        for package in self.packages:
            try:
                versions.append(f"{package} {metadata.version(package)}")
            except metadata.PackageNotFoundError:
                missing.append(package)
        reason = f"package {', '.join(missing)} is not installed" if missing else ""
        return Availability(not missing, ", ".join(versions), reason, for_this_python(self.install_command))

    def require(self) -> None:
        """Raise TargetUnavailable unless the backend is installed."""
        state = self.availability()
        if not state.available:
            raise TargetUnavailable(self.name, state.reason, state.command)


def first_problem(config_class: type[BaseModel], error: ValidationError) -> str:
    """What is wrong with options, in one short sentence: the first problem that pydantic found.

    What a check of the configuration as a whole raised, or any ConfigError, is repeated word for word.
    """
    detail = error.errors()[0]
    cause = detail.get("ctx", {}).get("error")
    option = ".".join(str(part) for part in detail["loc"])
    if cause is not None and (isinstance(cause, ConfigError) or not option):
        return str(cause)
    if detail["type"] == "extra_forbidden":
        known = list(config_class.model_fields)
        near = difflib.get_close_matches(option, known, n=1)
        return f"unknown option '{option}'; it has: {', '.join(known)}" + (
            f"; nearest: {near[0]}" if near else ""
        )
    # pydantic puts the kind of an error in front of the text of one that a check raised
    expected = str(cause) if cause is not None else detail["msg"].replace("Input should be", "expected", 1)
    return f"option '{option}': given {detail['input']!r}; {expected}"
