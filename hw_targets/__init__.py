"""Hardware targets: one interface, one folder per backend."""

from hw_targets.registry import circuit_names, get_target, target_names

__all__ = ["circuit_names", "get_target", "target_names"]
