"""Welch's comparison: published figures, scipy as oracle, symmetries, inputs without a test."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from espnet_ctcrep.stats.welch import welch
from espnet_ctcrep.utils.errors import InputError

arm = st.lists(st.floats(0, 300).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def spread(*arms):
    return max(max(a) - min(a) for a in arms)


def test_worked_example_to_six_digits(worked):
    r = welch(*worked)
    assert r.n == (5, 5)
    assert r.mean == pytest.approx((81.2, 81.8))
    assert r.sd == pytest.approx((0.494975, 0.902774), abs=5e-7)
    assert (r.diff, r.se) == pytest.approx((0.6, 0.4604346), abs=5e-8)
    assert (r.t, r.df, r.p) == pytest.approx((1.3031167, 6.2055920, 0.2387961), abs=5e-8)
    assert r.ci == pytest.approx((-0.5176565, 1.7176565), abs=5e-8)
    assert r.interval(0.90) == pytest.approx((-0.28943, 1.48943), abs=5e-6)
    assert r.interval(0.99) == pytest.approx((-1.08405, 2.28405), abs=5e-6)


def test_r_sleep_to_six_digits(sleep):
    first, second = sleep
    r = welch(second, first)  # R's t.test takes the first minus the second
    assert (r.t, r.df, r.p) == pytest.approx((-1.8608135, 17.7764735, 0.0793941), abs=5e-8)
    assert r.ci == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)


def test_degrees_of_freedom_are_satterthwaites_and_not_rounded():
    # Stata prints 55.7949 as Satterthwaite's and 57.64 as its other "Welch" formula.
    unit = [(i - 14.5) / 8.803408430829505 for i in range(30)]  # mean 0, SD 1
    r = welch([2.74 * u for u in unit], [2.24 * u - 2 for u in unit])
    assert r.df == pytest.approx(55.7949, abs=5e-5)
    assert r.t == pytest.approx(-3.0953, abs=5e-5)


def test_unequal_n_is_computed():
    a, b = [1.0, 2.0, 4.0], [2.0, 3.0, 5.0, 4.0, 6.0, 3.0, 7.0]
    r, oracle = welch(a, b), stats.ttest_ind(b, a, equal_var=False)
    assert r.n == (3, 7)
    assert (r.t, r.df, r.p) == pytest.approx((oracle.statistic, oracle.df, oracle.pvalue))


def test_one_diverged_run_widens_the_interval_and_is_not_dropped():
    r = welch([60, 61, 62, 63, 64], [60, 61, 62, 62, 177])
    assert r.p == pytest.approx(0.388, abs=5e-4)
    assert (r.ci[1] - r.ci[0]) / 2 == pytest.approx(64, abs=0.5)


@given(arm, arm, st.sampled_from([0.8, 0.95, 0.99, 0.9917]))
def test_agrees_with_scipy(a, b, confidence):
    assume(min(spread(a), spread(b)) > 1e-3)
    r, oracle = welch(a, b, confidence), stats.ttest_ind(b, a, equal_var=False)
    assert (r.t, r.df, r.p) == pytest.approx((oracle.statistic, oracle.df, oracle.pvalue))
    interval = oracle.confidence_interval(confidence)
    assert r.ci == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-9)


@given(arm, arm)
def test_swapping_the_arms_negates(a, b):
    assume(spread(a, b) > 1e-3)
    forth, back = welch(a, b), welch(b, a)
    assert back.diff == -forth.diff
    assert back.ci == pytest.approx((-forth.ci[1], -forth.ci[0]))
    assert back.p == pytest.approx(forth.p)


@given(arm, arm, st.floats(-50, 50))
def test_a_shift_of_both_arms_changes_nothing(a, b, shift):
    assume(spread(a, b) > 1e-3)
    r, moved = welch(a, b), welch([x + shift for x in a], [x + shift for x in b])
    assert moved.diff == pytest.approx(r.diff, abs=1e-9)
    assert moved.ci == pytest.approx(r.ci, abs=1e-6)


@given(arm, arm, st.floats(0.01, 100))
def test_a_change_of_unit_scales_everything(a, b, unit):
    assume(spread(a, b) > 1e-2)
    r, scaled = welch(a, b), welch([x * unit for x in a], [x * unit for x in b])
    assert scaled.ci == pytest.approx([unit * end for end in r.ci], abs=1e-9)
    assert (scaled.t, scaled.p) == pytest.approx((r.t, r.p), abs=1e-9)


def no_test(r):
    return (r.se, r.df, r.t, r.p, r.ci, r.interval(0.9)) == (None,) * 6


@pytest.mark.parametrize(
    ("a", "b", "diff", "reason"),
    [
        ([5.0], [4.0], -1.0, "one run each: no test"),
        ([5.0], [4.0, 4.5], -0.75, "one run in the baseline"),
        ([5.0, 6.0], [4.0], -1.5, "one run in the candidate"),
        ([], [4.0, 5.0], None, "no scores in the baseline"),
        ([], [], None, "no scores in the baseline and the candidate"),
        ([3.0] * 3, [3.0] * 4, 0.0, "identical scores"),
        ([3.0] * 3, [2.0] * 3, -1.0, "no spread within either arm"),
        ([1.0, math.nan], [1.0, 2.0], None, "1 of 2 baseline scores not finite"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, math.inf], None, "1 of 3 candidate scores not finite"),
    ],
)
def test_inputs_without_a_test_say_why_and_claim_nothing(a, b, diff, reason):
    r = welch(a, b)
    assert no_test(r)
    assert r.diff == (None if diff is None else pytest.approx(diff))
    assert reason in r.reason


def test_float_dust_is_no_variance():
    # The sum of ten .04 is not ten times the sum of one: scipy's p is 1e-4 here.
    r = welch([0.04] * 10, [0.04] * 30)
    assert no_test(r)
    assert "identical scores" in r.reason
    dusty = welch([0.1 + 0.2, 0.3, 0.3], [0.3, 0.3])
    assert no_test(dusty)
    assert dusty.sd == (0.0, 0.0)


def test_one_constant_arm_is_computed_and_flagged():
    r = welch([1, 2, 3], [3, 3, 3])
    assert (abs(r.t), r.df, r.p) == pytest.approx((1.7320508, 2, 0.2254033), abs=5e-7)
    assert "candidate scores are identical" in r.flag
    assert welch([1, 2, 3], [1, 2, 4]).flag is None


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], ["high", "low"], [None, 1.0]])
def test_what_is_not_one_number_a_run_is_refused(scores):
    if scores == [None, 1.0]:  # numpy reads None as NaN, which is not finite, which is said
        assert "not finite" in welch(scores, [1.0, 2.0]).reason
    else:
        with pytest.raises(InputError, match="one number a run"):
            welch(scores, [1.0, 2.0])


@pytest.mark.parametrize("confidence", [0, 1, 95, math.nan])
def test_confidence_outside_0_1_is_refused(confidence):
    with pytest.raises(InputError, match="confidence="):
        welch([1, 2], [3, 4], confidence)
