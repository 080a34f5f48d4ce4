"""Sources of the CPU kernels and their compilation; native_ssa.py is the way in."""
