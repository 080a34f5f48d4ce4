"""Lava processes and their models, alone in this package.

Lava's compiler executes every file beside the one that defines a Process, so nothing else may live here, and
imports are absolute.
"""

from hw_targets.lava.compat import prepare_lava

prepare_lava()
