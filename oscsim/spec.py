"""PhaseLayerSpec: what a layer of coupled oscillators means. No step sizes, no precisions, no devices."""

import math
import os
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    ConfigDict,
    InstanceOf,
    ValidationError,
    field_validator,
    model_validator,
)

from oscsim.coupling import (
    MAX_PHASE,
    EmpiricalOrder,
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    non_negative,
    real_array,
)
from oscsim.errors import SpecError
from oscsim.io import canonical_array

Array = NDArray[np.float64]
_HND = "(H, N, D)"


class PhaseLayerSpec(BaseModel):
    """One phase layer: immutable, validated once, equal when every field is equal (docs/spec.md).

    Parameters
    ----------
    omega : (H, N, D) natural frequencies relative to the carrier, rad / time unit.
    theta : (H, N, D) phases, rad; like all phases unwrapped or not, at most 1e8 in magnitude.
    values : (H, N, D_v) or None; with None the result has no output.
    coupling : FrequencyCoupling(alpha (H,)) or ExplicitCoupling(matrix (H, N, N)).
    gain : (H,) >= 0, global coupling K, rad / time unit.
    order_parameter : EmpiricalOrder() or FixedOrder(r (H,) or (H, N)). Pair only.
    mask : "full", or "causal" (token i is driven by j <= i).
    padding : (N,) bool, True where a token is padding and takes part in nothing; or None.
    dynamics : "pair" (an injection-locked cell per ordered pair), "network" (N mutually coupled
        oscillators per channel), "clamped" (free oscillators driven by held sources).
    phase_0 : (H, N, D) initial phases of the free oscillators, rad; None = theta. Clamped only.
    duration : T >= 0 in time units, infinity allowed. Clamped only.
    rate : (H, N, D) signed speed of each free oscillator; None = 1. Clamped only.
    psi_0 : (H, N, N) initial phase differences, rad; None = 0, and pi where J < 0. Pair only.
    time_unit_s, carrier_hz : physical scale, used by hardware targets only.

    A field that the chosen dynamics does not use is inert: it is stored and part of the digest, and
    changes no result.

    Raises
    ------
    SpecError
        names the field, what was given and what was expected.

    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]],
    ...                       coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0])
    >>> spec.n_heads, spec.n_oscillators, spec.n_channels, spec.dynamics
    (1, 2, 1, 'pair')
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, ignored_types=(cached_property,)
    )

    omega: Any
    theta: Any
    values: Any = None
    coupling: InstanceOf[FrequencyCoupling] | InstanceOf[ExplicitCoupling]
    gain: Any
    order_parameter: InstanceOf[EmpiricalOrder] | InstanceOf[FixedOrder] = EmpiricalOrder()
    mask: Literal["full", "causal"] = "full"
    padding: Any = None
    dynamics: Literal["pair", "network", "clamped"] = "pair"
    phase_0: Any = None
    duration: float = math.inf
    rate: Any = None
    psi_0: Any = None
    time_unit_s: float = 1e-9
    carrier_hz: float = 1e9

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise SpecError(_first_problem(error)) from None

    @field_validator("omega", mode="before")
    @classmethod
    def _check_frequencies(cls, value: Any) -> Array:
        return real_array(value, "omega", _HND, (3,))

    @field_validator("theta", "phase_0", "psi_0", mode="before")
    @classmethod
    def _check_phases(cls, value: Any, info: Any) -> Array | None:
        if value is None and info.field_name != "theta":
            return None
        shape = "(H, N, N)" if info.field_name == "psi_0" else _HND
        return real_array(value, info.field_name, shape, (3,), MAX_PHASE)

    @field_validator("values", "rate", mode="before")
    @classmethod
    def _check_optional(cls, value: Any, info: Any) -> Array | None:
        shape = "(H, N, D_v)" if info.field_name == "values" else _HND
        return None if value is None else real_array(value, info.field_name, shape, (3,))

    @field_validator("gain", mode="before")
    @classmethod
    def _check_gain(cls, value: Any) -> Array:
        return non_negative(value, "gain")

    @field_validator("padding", mode="before")
    @classmethod
    def _check_padding(cls, value: Any) -> NDArray[np.bool_] | None:
        if value is None:
            return None
        padding = np.asarray(value)
        if padding.dtype != np.bool_ or padding.ndim != 1:
            raise SpecError(
                f"padding: expected booleans of shape (N,), given {padding.dtype} of shape {padding.shape}"
            )
        if padding.all():
            raise SpecError("padding: every token is padding, expected at least one that is not")
        return canonical_array(padding)

    @field_validator("duration", "time_unit_s", "carrier_hz", mode="before")
    @classmethod
    def _check_scalar(cls, value: Any, info: Any) -> float:
        name = info.field_name
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise SpecError(f"{name}: given {value!r}, expected a number")
        try:
            number = float(value) + 0.0
        except OverflowError:
            raise SpecError(f"{name}: given an integer too large for a float, expected a number") from None
        if name == "duration" and not number >= 0:
            raise SpecError(f"duration: given {number}, expected T >= 0 (infinity allowed)")
        if name != "duration" and not (0 < number < math.inf):
            raise SpecError(f"{name}: given {number}, expected a finite number > 0")
        return number

    @model_validator(mode="after")
    def _check_shapes(self) -> Self:
        heads, count, channels = self.omega.shape
        hnd, hnn = (heads, count, channels), (heads, count, count)
        self._expect("theta", self.theta, hnd)
        self._expect("gain", self.gain, (heads,))
        if self.values is not None:
            self._expect("values", self.values, (heads, count, self.values.shape[2]))
        if isinstance(self.coupling, FrequencyCoupling):
            self._expect("coupling.alpha", self.coupling.alpha, (heads,))
        else:
            self._expect("coupling.matrix", self.coupling.matrix, hnn)
        if isinstance(self.order_parameter, FixedOrder):
            r = self.order_parameter.r
            self._expect("order_parameter.r", r, (heads,) if r.ndim == 1 else (heads, count))
        self._expect("padding", self.padding, (count,))
        self._expect("phase_0", self.phase_0, hnd)
        self._expect("rate", self.rate, hnd)
        self._expect("psi_0", self.psi_0, hnn)
        return self

    def _expect(self, name: str, array: NDArray[Any] | None, shape: tuple[int, ...]) -> None:
        if array is not None and array.shape != shape:
            raise SpecError(
                f"{name}: given shape {array.shape}, expected {shape} to agree with omega {self.omega.shape}"
            )

    @property
    def n_heads(self) -> int:
        """H."""
        return self.omega.shape[0]

    @property
    def n_oscillators(self) -> int:
        """N, padded ones included."""
        return self.omega.shape[1]

    @property
    def n_channels(self) -> int:
        """D, channels per head."""
        return self.omega.shape[2]

    @property
    def valid(self) -> NDArray[np.bool_]:
        """(N,) bool, False for padding."""
        return np.ones(self.n_oscillators, bool) if self.padding is None else ~self.padding

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical content, the same on every machine; stored in the file."""
        from oscsim.spec_file import spec_digest

        return spec_digest(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PhaseLayerSpec) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"PhaseLayerSpec({self.dynamics}, {self.mask}, H={self.n_heads}, N={self.n_oscillators}, "
            f"D={self.n_channels}, digest={self.digest[:12]})"
        )

    __str__ = __repr__

    def replace(self, **changes: Any) -> "PhaseLayerSpec":
        """A new, fully validated spec with some fields changed."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return PhaseLayerSpec(**{**fields, **changes})

    def model_copy(self, *, update: Any = None, deep: bool = False) -> "PhaseLayerSpec":
        """Like :meth:`replace`: pydantic's own copy would skip validation."""
        del deep  # contents are immutable, a deep copy is the same
        return self.replace(**dict(update or {}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one ``.phase`` file (temporary name, then rename); equal specs give equal bytes."""
        from oscsim.spec_file import save_spec

        save_spec(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "PhaseLayerSpec":
        """Read a ``.phase`` file; SchemaError or SpecError when it is not exactly one."""
        from oscsim.spec_file import load_spec

        return load_spec(path)


def _first_problem(error: ValidationError) -> str:
    """The first problem pydantic found, in our words: field, given, expected."""
    detail = error.errors()[0]
    field = ".".join(str(part) for part in detail["loc"][:1])
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, SpecError):
        return str(cause)
    if detail["type"] == "missing":
        return f"{field}: not given, expected a value"
    if detail["type"] == "extra_forbidden":
        known = ", ".join(PhaseLayerSpec.model_fields)
        return f"{field}: unknown field; a spec has: {known}"
    return f"{field}: given {detail['input']!r}, {detail['msg'][0].lower()}{detail['msg'][1:]}"
