"""Summaries, rates, equivalence, effect size."""

import numpy as np
import pytest
from scipy import stats

from espnet_ctcrep.stats.arms import mean_interval, sd_interval, summarise
from espnet_ctcrep.stats.effect import effect_size
from espnet_ctcrep.stats.equivalence import tost
from espnet_ctcrep.stats.rates import clopper_pearson, fisher, wilson
from espnet_ctcrep.stats.welch import welch
from espnet_ctcrep.utils.errors import InputError


def test_sd_has_divisor_n_minus_1():
    assert summarise([0.10, 0.12, 0.30]).sd == pytest.approx(0.11015, abs=5e-6)


def test_summary_of_an_arm_with_a_diverged_run():
    s = summarise([60, 61, 62, 62, 177])
    assert (s.n, s.minimum, s.maximum, s.median, s.iqm) == (5, 60, 177, 62, pytest.approx(185 / 3))
    assert summarise([1, 2, 100]).iqm == pytest.approx(103 / 3)  # trims nothing below n = 4


def test_summary_of_no_run_and_of_one():
    assert (summarise([]).mean, summarise([]).sd) == (None, None)
    assert (summarise([3.0]).mean, summarise([3.0]).sd) == (3.0, None)
    with pytest.raises(InputError, match="not all finite"):
        summarise([1.0, float("nan")])


def test_intervals_of_one_arm(worked):
    expected = [((80.5854, 81.8146), (0.2966, 1.4223)), ((80.6791, 82.9209), (0.5409, 2.5942))]
    for scores, (mean_ci, sd_ci) in zip(worked, expected, strict=True):
        s = summarise(scores)
        assert mean_interval(s.mean, s.sd, s.n) == pytest.approx(mean_ci, abs=5e-5)
        assert sd_interval(s.sd, s.n) == pytest.approx(sd_ci, abs=5e-5)
    r_example = summarise([5.5, 2.4, 6.8, 9.6, 4.2])
    assert mean_interval(r_example.mean, r_example.sd, 5) == pytest.approx((2.322309, 9.077691))
    assert mean_interval(3.0, 0.0, 5) is None
    assert sd_interval(0.0, 5) is None
    assert sd_interval(1.0, 1) is None


def test_three_published_runs():
    s = summarise([25.55, 25.99, 24.70])
    assert (s.mean, s.sd) == pytest.approx((25.413, 0.656), abs=5e-4)
    assert mean_interval(s.mean, s.sd, 3) == pytest.approx((23.78, 27.04), abs=5e-3)


@pytest.mark.parametrize("k", range(6))
def test_divergence_rate_interval_is_scipys_exact_one(k):
    oracle = stats.binomtest(k, 5).proportion_ci(0.95, "exact")
    assert clopper_pearson(k, 5) == pytest.approx((oracle.low, oracle.high))
    score = stats.binomtest(k, 5).proportion_ci(0.95, "wilson")
    assert wilson(k, 5) == pytest.approx((score.low, score.high), abs=1e-12)


def test_divergence_rates_as_published():
    assert clopper_pearson(1, 5) == pytest.approx((0.005, 0.716), abs=5e-4)
    assert clopper_pearson(0, 5) == pytest.approx((0, 0.522), abs=5e-4)
    assert clopper_pearson(0, 0) is None
    assert wilson(0, 0) is None
    assert fisher(1, 5, 0, 5) == pytest.approx(1)
    assert fisher(5, 5, 0, 5) == pytest.approx(0.0079, abs=5e-5)
    assert fisher(0, 0, 1, 5) is None
    with pytest.raises(InputError, match="k=6 of n=5"):
        clopper_pearson(6, 5)


@pytest.mark.parametrize(("margin", "p"), [(0.5, 0.58249), (1, 0.20866), (2, 0.01092)])
def test_equivalence_of_the_worked_example(worked, margin, p):
    r = welch(*worked)
    result = tost(r, margin)
    assert result.p == pytest.approx(p, abs=5e-6)
    low, high = r.interval(0.90)
    assert (result.p < 0.05) == (-margin < low and high < margin)


def test_equivalence_takes_the_larger_p_of_an_asymmetric_case():
    a, b = np.arange(5.0), np.arange(5.0) - 0.9
    result = tost(welch(a, b), 2)
    one_sided = stats.ttest_ind(b, a - 2, equal_var=False, alternative="greater").pvalue
    assert result.p == result.p_above == pytest.approx(one_sided)
    assert result.p_below < result.p_above


def test_equivalence_without_a_test_or_a_margin():
    assert tost(welch([1], [2]), 1) is None
    for margin in (0, -1, float("nan")):
        with pytest.raises(InputError, match="margin="):
            tost(welch([1, 2], [2, 3]), margin)


def test_effect_size_of_the_worked_example(worked):
    e = effect_size(welch(*worked))
    assert (e.d, e.g) == pytest.approx((0.8241634, 0.7444056), abs=5e-8)
    assert effect_size(welch([1], [2])) is None
