"""The compact vocabulary: every label has one column, its occurrences stand in ascending order."""

import torch
from ctc_cases import random_log_probs
from hypothesis import given, settings
from hypothesis import strategies as st

from espnet_ctcrep.ctc.arguments import check_arguments
from espnet_ctcrep.ctc.columns import compact_columns

V = 6


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(0, V - 1),
    st.lists(st.lists(st.integers(0, V - 2), max_size=8), min_size=1, max_size=4),
)
def test_columns_hold_each_label_once_and_its_positions_ascending(blank, rows):
    rows = [[c + (c >= blank) for c in row] for row in rows]
    joined = torch.tensor([c for row in rows for c in row], dtype=torch.int64)
    lengths = [len(row) for row in rows]
    log_probs = random_log_probs(3, len(rows), V)
    batch = check_arguments(log_probs, joined, [3] * len(rows), lengths, blank)
    columns = compact_columns(batch)
    positions, of_class = columns.positions(), columns.class_columns(V)
    none = columns.classes.size(1)
    for b, row in enumerate(rows):
        labels = sorted(set(row))
        assert columns.classes[b].tolist()[: len(labels) + 1] == [blank, *labels]
        assert [columns.classes[b, i].item() for i in columns.ids[b, : len(row)]] == row
        for k, label in enumerate(labels):
            expected = [i for i, c in enumerate(row) if c == label]
            assert [i for i in positions[b, k].tolist() if i < max(lengths)] == expected
            assert columns.counts[b, k] == len(expected)
        expected = {blank: 0} | {label: k + 1 for k, label in enumerate(labels)}
        assert of_class[b].tolist() == [expected.get(c, none) for c in range(V)]
    most = max((row.count(c) for row in rows for c in row), default=0)
    assert columns.repeats == positions.size(2) == most
