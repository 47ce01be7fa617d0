"""P(candidate better): estimate, interval, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from espnet_ctcrep.stats.superiority import p_better

arm = st.lists(st.integers(0, 20).map(float), min_size=2, max_size=8)


def test_worked_example_as_error_rates(worked):
    a, b = ([-x for x in scores] for scores in worked)
    r = p_better(a, b)
    assert (r.wins, r.pairs, r.estimate) == (18, 25, pytest.approx(0.72))
    assert r.ci == pytest.approx((0.194, 0.965), abs=5e-4)
    assert p_better(b, a).ci == pytest.approx((0.035, 0.806), abs=5e-4)


@given(arm, arm)
def test_wins_are_mann_whitneys_u(a, b):
    assert p_better(a, b).wins == stats.mannwhitneyu(a, b).statistic


@given(arm, arm)
def test_swapping_the_arms_gives_the_complement(a, b):
    forth, back = p_better(a, b), p_better(b, a)
    assert forth.estimate == pytest.approx(1 - back.estimate)
    if forth.ci:
        assert forth.ci == pytest.approx((1 - back.ci[1], 1 - back.ci[0]))
        assert 0 <= forth.ci[0] <= forth.estimate <= forth.ci[1] <= 1


def test_separated_arms_are_clipped_and_three_runs_prove_nothing():
    three = p_better([4, 5, 6], [1, 2, 3])
    assert (three.wins, three.estimate) == (9, pytest.approx(1 - 1 / 18))
    assert three.ci[0] < 0.5 < three.ci[1] < 1
    five = p_better([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])
    assert five.ci[0] > 0.5  # the exact rank test agrees: p = .0079
    assert p_better([1, 2, 3], [4, 5, 6]).ci == pytest.approx((1 - three.ci[1], 1 - three.ci[0]))


@pytest.mark.parametrize(
    ("a", "b", "estimate", "reason"),
    [
        ([3, 3, 3], [3, 3], 0.5, "every run is tied"),
        ([3], [1, 2], 0.75, "fewer than 2 runs"),
        ([], [1, 2], None, "no scores"),
        ([1, float("nan")], [1, 2], None, "not finite"),
    ],
)
def test_no_interval_is_claimed_without_grounds(a, b, estimate, reason):
    r = p_better(a, b)
    assert r.ci is None
    assert r.estimate == estimate
    assert reason in r.reason


@pytest.mark.parametrize("effect", [0, 0.82, 2])
def test_coverage_at_five_runs_is_nominal_or_more(effect):
    rng = np.random.default_rng(7)
    truth = stats.norm.cdf(effect / 2**0.5)
    a, b = rng.normal(effect, 1, (1000, 5)), rng.normal(0, 1, (1000, 5))
    held = [lo <= truth <= hi for lo, hi in (p_better(*arms).ci for arms in zip(a, b, strict=True))]
    assert np.mean(held) > 0.94
