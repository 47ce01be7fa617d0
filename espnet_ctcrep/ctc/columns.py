"""Each utterance's own small vocabulary: the blank and the labels of its target."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch

__all__ = ["Columns", "compact_columns"]


@dataclass(frozen=True)
class Columns:
    """Integer tables of B utterances, int64 and on one device.

    L is the longest target, K the largest number of different labels in one. Column 0 is the
    blank, columns 1 to K the labels in ascending order. Occurrences of a label stand together in
    `order`, ascending, which is the order in which a fixed-order sum takes them.
    """

    classes: Tensor  # (B, K + 1) class of each column, the blank's where a column is unused
    ids: Tensor  # (B, L) column of each label of the target, K + 1 where a target has ended
    order: Tensor  # (B, L) positions in the target, sorted by column, then by position
    starts: Tensor  # (B, K) where the occurrences of column k + 1 start in `order`
    counts: Tensor  # (B, K) how many there are; 0 where a column is unused
    repeats: int  # R, the most occurrences of one label

    def slots(self) -> Tensor:
        """(B, K, R) indices into `order` of each column's occurrences, L for 'none'."""
        taken = torch.arange(self.repeats, device=self.counts.device)
        used = taken < self.counts[:, :, None]
        return torch.where(used, self.starts[:, :, None] + taken, self.order.size(1))

    def positions(self) -> Tensor:
        """(B, K, R) positions in the target of each column's occurrences, L for 'none'."""
        size, longest = self.order.shape
        order = torch.nn.functional.pad(self.order, (0, 1), value=longest)  # (B, L + 1)
        slots = self.slots()
        return order.gather(1, slots.reshape(size, -1)).reshape(slots.shape)

    def class_columns(self, classes: int) -> Tensor:
        """(B, V) column of each class, K + 1 for a class that the target does not hold."""
        size, n = self.classes.shape
        none = n
        # Unused columns go to a spare class at the end, so that every cell has one writer.
        used = torch.nn.functional.pad(self.counts > 0, (1, 0), value=True)
        target = torch.where(used, self.classes, classes)
        column = torch.arange(n, device=target.device).expand(size, n)
        table = torch.full((size, classes + 1), none, device=target.device)
        return table.scatter_(1, target, torch.where(used, column, none))[:, :classes]

    def to(self, device: torch.device) -> "Columns":
        """The same tables on `device`."""
        tables = (self.classes, self.ids, self.order, self.starts, self.counts)
        return Columns(*(table.to(device) for table in tables), self.repeats)


def compact_columns(batch: Batch) -> Columns:
    """The columns of a batch, on the CPU: integer work only."""
    size, longest = batch.targets.shape
    found = [
        np.unique(y[:n], return_inverse=True, return_counts=True)
        for y, n in zip(batch.targets.numpy(), batch.target_lengths, strict=True)
    ]
    different = max(len(labels) for labels, _, _ in found)
    classes = np.full((size, different + 1), batch.blank)
    ids = np.full((size, longest), different + 1)
    order = np.tile(np.arange(longest), (size, 1))
    starts, counts = np.zeros((2, size, different), dtype=np.int64)
    for b, (labels, inverse, n) in enumerate(found):
        classes[b, 1 : len(labels) + 1] = labels
        ids[b, : len(inverse)] = inverse + 1
        order[b, : len(inverse)] = np.argsort(inverse, kind="stable")
        counts[b, : len(n)] = n
        starts[b, : len(n)] = np.cumsum(n) - n
    tables = (torch.from_numpy(t) for t in (classes, ids, order, starts, counts))
    return Columns(*tables, int(counts.max(initial=0)))
