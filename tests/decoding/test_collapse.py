"""Collapsing a CTC path."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="decoding needs torch: pip install 'espnet_ctcrep[train]'")
pytestmark = pytest.mark.train


@given(st.lists(st.integers(0, 3)))
def test_collapse_removes_repeats_before_blanks(path):
    from espnet_ctcrep.decoding.greedy import collapse

    expected = [label for label, _ in itertools.groupby(path) if label != 0]
    assert collapse(path) == expected


def test_a_blank_between_equal_labels_keeps_both():
    from espnet_ctcrep.decoding.greedy import collapse

    assert collapse([5, 5, 0, 5]) == [5, 5]
    assert collapse([0, 0]) == []
    assert collapse([2, 7, 2], blank=7) == [2, 2]
