"""Hardware targets: one interface, one folder per backend."""

from hw_targets.registry import get_target, target_names

__all__ = ["get_target", "target_names"]
