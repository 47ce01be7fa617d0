"""Power, runs needed, detectable difference: figures of R, of published tables, of simulation."""

import numpy as np
import pytest
from scipy import stats

from espnet_ctcrep.stats.power import required_n, smallest_detectable, welch_power
from espnet_ctcrep.utils.errors import InputError

SD_A, SD_B = 0.4949747468, 0.9027735043


def test_worked_example():
    assert welch_power(0.6, SD_A, SD_B, 5, 5) == pytest.approx(0.1984914, abs=5e-7)
    pooled = ((SD_A**2 + SD_B**2) / 2) ** 0.5
    assert welch_power(0.6, pooled, pooled, 5, 5) == pytest.approx(0.2101441, abs=5e-7)
    assert required_n(0.6, SD_A, SD_B) == 25
    assert welch_power(0.6, SD_A, SD_B, 25, 25) == pytest.approx(0.81003, abs=5e-6)
    assert welch_power(0.6, SD_A, SD_B, 24, 24) == pytest.approx(0.79316, abs=5e-6)


def test_r_power_t_test():
    assert welch_power(1, 1, 1, 20, 20) == pytest.approx(0.8689530, abs=1e-6)
    assert welch_power(1, 1, 1, 22.02110, 22.02110) == pytest.approx(0.9, abs=1e-5)
    assert welch_power(1, 2.5, 2.5, 100, 100) == pytest.approx(0.8036475, abs=1e-6)


@pytest.mark.parametrize(
    ("effect", "at_05", "at_01"),
    [
        (0.5, 64, 96),
        (0.75, 29, 44),
        (0.8, 26, 39),
        (1, 17, 26),
        (1.25, 12, 17),
        (1.5, 9, 13),
        (2, 6, 8),
        (3, 4, 5),
        (4, 3, 4),
    ],
)
def test_runs_needed_for_80_percent(effect, at_05, at_01):
    assert required_n(effect, 1, 1) == at_05
    assert required_n(effect, 1, 1, alpha=0.01) == at_01
    assert required_n(-effect, 1, 1) == at_05


@pytest.mark.parametrize(
    ("effect", "total_80", "total_90"),
    [(0.5, 128, 172), (0.8, 52, 68), (1.0, 34, 46), (1.25, 24, 30), (1.5, 18, 22)],
)
def test_kiesers_table_of_totals(effect, total_80, total_90):
    assert 2 * required_n(effect, 1, 1, power=0.8) == total_80
    assert 2 * required_n(effect, 1, 1, power=0.9) == total_90


@pytest.mark.parametrize(
    ("n", "sds"),
    [(3, 3.07), (4, 2.38), (5, 2.02), (8, 1.51), (10, 1.33), (15, 1.06), (20, 0.91), (25, 0.81)],
)
def test_smallest_detectable_difference_in_sds(n, sds):
    mde = smallest_detectable(1, 1, n, n)
    assert mde == pytest.approx(sds, abs=0.006)
    assert smallest_detectable(7, 7, n, n) == pytest.approx(7 * mde)
    assert welch_power(mde, 1, 1, n, n) == pytest.approx(0.8)


def test_power_is_what_simulation_finds_with_unequal_variances_and_n():
    rng = np.random.default_rng(20261201)
    a, b = rng.normal(0, 3, (20_000, 12)), rng.normal(2.5, 1, (20_000, 5))
    rejected = stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < 0.05
    assert welch_power(2.5, 3, 1, 12, 5) == pytest.approx(rejected.mean(), abs=0.012)


def test_far_tail_that_scipy_cannot_compute_counts_as_zero():
    # scipy's answer is NaN at some of these shifts, 37 among them
    assert [welch_power(shift / 10**0.5 * 2, 1, 1, 5, 5) for shift in range(20, 60)] == [1.0] * 40
    assert welch_power(1e9, 1, 1, 2, 2, alpha=0.001) == pytest.approx(1)


def test_power_at_no_difference_is_alpha():
    assert welch_power(0, 1, 2, 5, 9, alpha=0.03) == pytest.approx(0.03)


def test_no_number_of_runs_shows_no_difference():
    assert required_n(0, 1, 1) is None
    assert required_n(0.001, 1, 1) is None
    assert required_n(0.5, 1, 1, cap=63) is None
    assert required_n(0.5, 1, 1, cap=64) == 64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: welch_power(1, 0, 0, 5, 5), "SDs="),
        (lambda: welch_power(1, float("nan"), 1, 5, 5), "SDs="),
        (lambda: welch_power(1, 1, 1, 1, 5), "at least 2 runs"),
        (lambda: smallest_detectable(1, 1, 1, 5), "at least 2 runs"),
        (lambda: required_n(1, 1, 1, alpha=0), "alpha=0"),
        (lambda: required_n(1, 1, 1, power=0.01), r"power=0\.01"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
