"""What ``oscsim bench`` measures; checked without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from oscsim.errors import ConfigError

IMPLEMENTATIONS = ("triton", "native", "eager")
PRECISIONS = ("accurate", "fast", "fp32")
DTYPES = ("float32", "bfloat16", "float16")
DEVICES = ("cpu", "cuda")
ENGINES = ("portable", "avx2", "avx512", "amx")
QUICK: dict[str, Any] = {"sizes": (256, 512), "repeats": 3, "flex": False, "memory": False}
"""Options of a short run that shows that everything works; its figures mean little."""
LARGEST_WIDTH = 128


@dataclass(frozen=True)
class Case:
    """One kind of attention call and the sizes N it is measured at by default."""

    name: str
    title: str
    kind: str
    causal: bool
    sparse: bool
    sizes: tuple[int, ...]
    per_row: bool = False


CASES = {
    case.name: case
    for case in (
        Case("ssa", "SSA, full mask, every tile active", "ssa", False, False, (2048, 4096, 8192)),
        Case("ssa-causal", "SSA, causal, one r per head", "ssa", True, False, (2048, 4096, 8192)),
        Case(
            "ssa-prefix", "SSA, causal, r of the prefix, one per row", "ssa", True, False, (2048, 4096, 8192),
            per_row=True,
        ),
        Case(
            "ssa-sparse", "SSA, full mask, learned ramp, window ±128, block map", "ssa", False, True,
            (4096, 8192, 16384, 32768, 65536),
        ),
        Case("kuramoto", "Kuramoto attention, causal", "kuramoto", True, False, (2048, 4096, 8192)),
    )
}  # fmt: skip


@dataclass(frozen=True)
class BenchOptions:
    """Everything that decides what is run.

    Parameters
    ----------
    cases : names of :data:`CASES`.
    sizes : numbers of tokens N; empty takes each case's own.
    impl : None takes the device's own (CUDA: triton, CPU: native).
    engine : instruction set of the native implementation of SSA; None takes the best of this machine.
    dtype : of the values (SSA) or of phases and gates (Kuramoto); frequencies stay float32.
    channels : D of SSA, k of Kuramoto attention, per head; also the width of the values.
    flex, dense, memory : whether to measure compiled FlexAttention, the public dense formula, peak memory.
    """

    cases: tuple[str, ...] = tuple(CASES)
    sizes: tuple[int, ...] = ()
    impl: str | None = None
    device: str = "cpu"
    engine: str | None = None
    precision: str = "accurate"
    dtype: str = "float32"
    batch: int = 1
    heads: int = 8
    channels: int = 64
    repeats: int = 15
    flex: bool = False
    dense: bool = True
    memory: bool = True
    seed: int = 0

    def checked(self) -> BenchOptions:
        """Return itself with repetitions removed.

        Raises
        ------
        ConfigError
            names the option, what was given and what was expected.

        >>> BenchOptions(sizes=(1,)).checked()
        Traceback (most recent call last):
            ...
        oscsim.errors.ConfigError: --n: given 1, expected 2 to 1048576 tokens
        """
        if not self.cases:
            raise ConfigError(f"--case: given none, expected some of {', '.join(CASES)}")
        for case in self.cases:
            _one_of("--case", case, tuple(CASES))
        if self.impl is not None:
            _one_of("--impl", self.impl, IMPLEMENTATIONS)
        if self.engine is not None:
            _one_of("--engine", self.engine, ENGINES)
            if self.implementation != "native":
                raise ConfigError(
                    f"--engine: given {self.engine} with impl {self.implementation}, expected impl native"
                )
            if all(CASES[case].kind != "ssa" for case in self.cases):
                raise ConfigError(
                    f"--engine: given {self.engine} with --case {', '.join(self.cases)}, which has none; "
                    "expected a case of ssa beside it, or no --engine"
                )
        _one_of("--device", self.device, DEVICES)
        _one_of("--precision", self.precision, PRECISIONS)
        _one_of("--dtype", self.dtype, DTYPES)
        for n in self.sizes:
            _within("--n", n, 2, 2**20, " tokens")
        _within("--batch", self.batch, 1, 4096)
        _within("--heads", self.heads, 1, 4096)
        _within("--channels", self.channels, 1, LARGEST_WIDTH)
        _within("--repeats", self.repeats, 3, 10_000)
        if self.device == "cuda" and self.impl == "native":
            raise ConfigError(
                "--impl: given native with --device cuda, expected triton or eager; native runs on the CPU"
            )
        return replace(self, cases=tuple(dict.fromkeys(self.cases)), sizes=tuple(sorted(set(self.sizes))))

    @property
    def implementation(self) -> str:
        """The implementation that is measured."""
        return self.impl or ("triton" if self.device == "cuda" else "native")

    def sizes_of(self, case: Case) -> tuple[int, ...]:
        """Sizes at which a case is measured."""
        return self.sizes or case.sizes


def _one_of(option: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ConfigError(f"{option}: given {given!r}, expected one of {', '.join(known)}")


def _within(option: str, given: int, low: int, high: int, unit: str = "") -> None:
    if not low <= given <= high:
        raise ConfigError(f"{option}: given {given}, expected {low} to {high}{unit}")
