"""Holm and simultaneous intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from espnet_ctcrep.stats.families import holm, simultaneous_confidence
from espnet_ctcrep.utils.errors import InputError


def test_published_example():
    adjusted = holm([0.01, 0.04, 0.03, 0.005, 0.2, 0.6])
    assert adjusted == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.4, 0.6])


def test_a_comparison_without_p_shifts_no_other_and_still_counts():
    assert holm([0.01, None, 0.04]) == [pytest.approx(0.03), None, pytest.approx(0.08)]
    assert holm([math.nan, 0.01, 0.04]) == [None, pytest.approx(0.03), pytest.approx(0.08)]
    assert holm([0.01, 0.04], size=6) == pytest.approx([0.06, 0.2])
    assert holm([None, None]) == [None, None]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjusted_p_lie_between_p_and_bonferronis_and_keep_the_order(p):
    adjusted = holm(p)
    assert all(x <= y <= min(1, len(p) * x) + 1e-12 for x, y in zip(p, adjusted, strict=True))
    order = sorted(range(len(p)), key=lambda i: p[i])
    assert sorted(adjusted) == [adjusted[i] for i in order]


@pytest.mark.parametrize(
    ("p", "size", "message"), [([1.2], None, r"\[0, 1\]"), ([0.1, 0.2], 1, "size=1")]
)
def test_wrong_input_is_refused(p, size, message):
    with pytest.raises(InputError, match=message):
        holm(p, size)


def test_simultaneous_level():
    assert simultaneous_confidence(0.05, 1) == pytest.approx(0.95)
    assert simultaneous_confidence(0.05, 6) == pytest.approx(1 - 0.05 / 6)
    # the interval at this level excludes 0 exactly when Bonferroni's p is below alpha
    t = stats.t.isf((1 - simultaneous_confidence(0.05, 6)) / 2, 7)
    assert 6 * 2 * stats.t.sf(t, 7) == pytest.approx(0.05)
    for alpha, size in ((0, 3), (0.05, 0)):
        with pytest.raises(InputError):
            simultaneous_confidence(alpha, size)
