"""The demo: one real layer on every target, as pictures and numbers."""
