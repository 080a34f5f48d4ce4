"""Small pieces of a netlist."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """A state variable in natural units: ``sum_k weights[k] vectors[k] + offset`` of saved vectors.

    >>> Probe.of("v(v0_0)", 0.5)
    Probe(vectors=('v(v0_0)',), weights=(2.0,), offset=0.0)
    """

    vectors: tuple[str, ...]
    weights: tuple[float, ...]
    offset: float = 0.0

    @classmethod
    def of(cls, vector: str, unit: float) -> "Probe":
        """One vector, in units of ``unit``."""
        return cls((vector,), (1.0 / unit,))


def number(value: float) -> str:
    """Eleven digits, more than any tolerance of a simulator resolves.

    >>> number(1 / 3e9)
    '3.3333333333e-10'
    """
    return f"{float(value):.11g}"
