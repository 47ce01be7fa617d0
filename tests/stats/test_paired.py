"""The paired view: by id, never by place."""

import pytest
from scipy import stats

from espnet_ctcrep.stats.paired import correlation_interval, paired
from espnet_ctcrep.utils.errors import InputError


def by_id(scores):
    return dict(enumerate(scores))


def test_worked_example(worked):
    r = paired(*map(by_id, worked))
    assert (r.n, r.df, r.diff) == (5, 4, pytest.approx(0.6))
    assert (r.sd, r.t, r.p) == pytest.approx((0.5147815, 2.6062335, 0.0596557), abs=5e-8)
    assert r.ci == pytest.approx((-0.0391857, 1.2391857), abs=5e-8)
    assert r.correlation == pytest.approx(0.8895601, abs=5e-8)
    assert r.correlation_ci == pytest.approx((0.0339, 0.9927), abs=5e-5)
    better = paired(*(by_id([-x for x in arm]) for arm in worked))
    assert better.wins == 4
    assert better.wins_ci == pytest.approx((0.376, 0.964), abs=5e-4)


def test_r_sleep(sleep):
    r = paired(by_id(sleep[1]), by_id(sleep[0]))
    assert (r.t, r.df, r.p) == (pytest.approx(-4.0621277), 9, pytest.approx(0.0028329, abs=5e-8))
    assert r.ci == pytest.approx((-2.4598859, -0.7001142), abs=2e-7)
    assert r.correlation == pytest.approx(stats.pearsonr(*sleep).statistic)


def test_pairs_are_taken_by_id_and_not_by_place():
    # By place the differences would be -21, -1, 19.
    r = paired({0: 10, 1: 20, 2: 31}, {2: 30, 1: 19, 0: 9})
    assert r.diff == -1
    assert r.sd == 0


def test_ids_in_one_arm_only_are_refused():
    with pytest.raises(InputError, match="ids in one arm only: 2, 3"):
        paired({0: 1.0, 2: 2.0}, {0: 1.0, 3: 2.0})


@pytest.mark.parametrize("offset", [1.0, 0.1])
def test_constant_differences_give_no_p_of_zero(offset):
    r = paired(by_id([60.3, 61.7, 99.9]), by_id([x - offset for x in (60.3, 61.7, 99.9)]))
    assert (r.t, r.p, r.ci, r.sd) == (None, None, None, 0.0)
    assert "same difference in every pair" in r.reason
    assert r.correlation == pytest.approx(1)


def test_correlation_of_few_pairs():
    three = paired(by_id([1, 2, 4]), by_id([2, 1, 5]))
    assert three.correlation is not None
    assert three.correlation_ci is None
    two = paired(by_id([1, 2]), by_id([2, 5]))
    assert two.correlation is None
    assert two.p is not None
    assert correlation_interval(0.89, 3) is None
    assert correlation_interval(1.0, 9) is None
    assert paired(by_id([1, 2, 3]), by_id([4, 4, 4])).correlation is None


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_pairs_are_no_test(n):
    r = paired(by_id([1.0] * n), by_id([2.0] * n))
    assert (r.p, r.ci, r.sd) == (None, None, None)
    assert f"{n} pair" in r.reason


def test_a_score_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match="not finite"):
        paired({0: 1.0, 1: float("nan")}, {0: 1.0, 1: 2.0})
