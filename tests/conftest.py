"""What all tests share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine, however slow it is; `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """The command line sets up our logger for a terminal; a test that runs it must not change the next one."""
    ours = logging.getLogger("flagharness")
    handlers, level, propagate = list(ours.handlers), ours.level, ours.propagate
    yield
    ours.handlers[:] = handlers
    ours.setLevel(level)
    ours.propagate = propagate
