"""The experiments of docs/results.md: ``python -m models.experiments --help``."""
