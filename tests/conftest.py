"""Fixtures shared by all tests."""

import os

import pytest
from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=25, derandomize=True, print_blob=True)
settings.load_profile("quick")

# Two test processes on two cores: a thread pool inside each would only make them wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_stray_files(tmp_path, monkeypatch):
    """Run every test in its own folder, so that nothing lands in the checkout."""
    monkeypatch.chdir(tmp_path)
