"""Replay of published devices: what the energy model predicts for them, and whether it may be trusted."""
