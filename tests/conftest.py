"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

# No example has a deadline, nor the making of one: a machine may be ten times slower than yours, or busy.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Tests run side by side, a process for each core: threads of their own would only wait for one another.
torch.set_num_threads(1)

# A shell that starts tests in the background lets them ignore Ctrl-C, and so would all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent

# Tests lie in folders by room; helpers are imported by name from any of them.
sys.path[:0] = [str(HERE), *(str(folder) for folder in HERE.iterdir() if any(folder.glob("test_*.py")))]


def shared_folder() -> Path | None:
    """Return the folder of recorded material beside the checkout (or where VAUBAN_SHARED says), if there is one."""
    named = os.environ.get("VAUBAN_SHARED")
    folder = Path(named) if named else HERE.parent.parent / "shared"
    return folder if (folder / "vectors").is_dir() else None


@pytest.fixture(scope="session")
def vectors() -> Path:
    """Recorded cases and games that are not ours to copy; tests that need them are skipped without."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("the recorded material is not beside the checkout (../shared, or VAUBAN_SHARED)")
    return folder / "vectors"
