from __future__ import annotations

from typing import Any

import pytest

from flagharness.errors import ConfigError
from flagharness.media import ImageLimits


@pytest.mark.parametrize("name", ["max_image_size", "max_long_side", "min_short_side"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "100"])
def test_bounds_are_positive_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a positive whole number, got {value!r}"):
        ImageLimits(**{name: value})


def test_sides_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="min_short_side 100 is larger than max_long_side 50"):
        ImageLimits(max_long_side=50, min_short_side=100)


def test_limits_are_active_as_soon_as_one_is_set() -> None:
    assert not ImageLimits().active
    assert ImageLimits(max_image_size=1).active
    assert ImageLimits(max_long_side=1).active
    assert ImageLimits(min_short_side=1).active
