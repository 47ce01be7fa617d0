"""Edits as NIST's sclite counts them, which can be more than the fewest."""

from collections.abc import Sequence

__all__ = ["count_sclite_edits"]

SUBSTITUTION, GAP = 4, 3


def count_sclite_edits(ref: Sequence, hyp: Sequence) -> int:
    """Substitutions, deletions and insertions of the alignment that sclite chooses.

    sclite minimises 4 per substitution and 3 per deletion or insertion. Where a deletion with an
    insertion saves enough substitutions, that alignment has more edits than the Levenshtein
    distance: ABCDE against XYZAB are 5 substitutions (cost 20), but sclite takes 3 insertions and
    3 deletions (cost 18). Of equal costs it takes the substitution or match, then the insertion,
    then the deletion (observed on sclite 2.10; `tests/scoring/test_sclite.py` compares).
    """
    # (cost, edits) of the best alignment of ref[:i] with hyp[:j], row by row over i
    above = [(GAP * j, j) for j in range(len(hyp) + 1)]
    for i, r in enumerate(ref, 1):
        left = (GAP * i, i)
        row = [left]
        for j, h in enumerate(hyp, 1):
            cost, edits = above[j - 1]
            best = (cost, edits) if r == h else (cost + SUBSTITUTION, edits + 1)
            if left[0] + GAP < best[0]:
                best = (left[0] + GAP, left[1] + 1)
            if above[j][0] + GAP < best[0]:
                best = (above[j][0] + GAP, above[j][1] + 1)
            left = best
            row.append(best)
        above = row
    return above[-1][1]
