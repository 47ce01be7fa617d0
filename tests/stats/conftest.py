"""Published data that the statistics are checked on."""

import pytest


@pytest.fixture
def worked():
    """Two arms of five runs whose every figure has been computed by hand and by R and scipy."""
    return [81.2, 80.6, 81.9, 80.9, 81.4], [82.3, 81.0, 82.8, 80.7, 82.2]


@pytest.fixture
def sleep():
    """R's data set `sleep`: extra hours of sleep under two drugs."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    return first, second
