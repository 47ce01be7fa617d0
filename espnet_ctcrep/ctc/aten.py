"""The fixed-order loss on any device, from PyTorch's own deterministic forward kernel.

PyTorch's forward recursion has one writer for each state, on CUDA as on the CPU. The backward
variables are the forward variables of the time-reversed input with the reversed target, so two
forward calls give the occupancies of all states; what is left is to add those of one label, in
ascending order, and to put each sum in its place. Nothing here adds into a cell that another
thread may write.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch
from espnet_ctcrep.ctc.columns import Columns, compact_columns
from espnet_ctcrep.ctc.once import differentiable_once

__all__ = ["LabelSums", "aten_losses", "label_sums_ascending", "ordered_sums", "reordered_losses"]

# Numbers that one step of the gradient's assembly may hold beside the gradient: 64 MiB in float32.
CHUNK = 2**24

LabelSums = Callable[[Tensor, Tensor, Columns], Tensor]


def aten_losses(
    log_probs: Tensor, batch: Batch, zero_infinity: bool, recursion: torch.dtype | None = None
) -> Tensor:
    """(B,) losses of (T, B, V) log_probs, float32 or float64; differentiable once.

    `recursion` is the type of the forward and backward variables, log_probs' own by default.
    Memory beside log_probs and the gradient: a few (B, T, 2L+1) buffers.
    """
    return reordered_losses(log_probs, batch, zero_infinity, recursion, label_sums_ascending)


def reordered_losses(
    log_probs: Tensor,
    batch: Batch,
    zero_infinity: bool,
    recursion: torch.dtype | None,
    label_sums: LabelSums,
) -> Tensor:
    """`aten_losses` with another order of addition: how `shuffled` is made."""
    return _AtenCTC.apply(log_probs, batch, zero_infinity, recursion, label_sums)


class _AtenCTC(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx,
        log_probs: Tensor,
        batch: Batch,
        zero_infinity: bool,
        recursion: torch.dtype | None,
        label_sums: LabelSums,
    ) -> Tensor:
        columns = compact_columns(batch).to(log_probs.device)
        frames = log_probs.size(0)
        # (T, B, K + 1): the recursion never sees the whole vocabulary.
        emissions = log_probs.gather(2, columns.classes.expand(frames, -1, -1))
        emissions = emissions.to(recursion or log_probs.dtype)
        losses, log_alpha = _forward_variables(emissions, columns.ids, batch)
        ctx.save_for_backward(log_probs, emissions, losses, log_alpha)
        ctx.batch, ctx.columns = batch, columns
        ctx.zero_infinity, ctx.label_sums = zero_infinity, label_sums
        if zero_infinity:
            losses = torch.where(losses == torch.inf, 0.0, losses)
        return losses.to(log_probs.dtype, copy=True)

    @staticmethod
    @differentiable_once
    def backward(ctx, grad_losses: Tensor) -> tuple[Tensor | None, ...]:
        log_probs, emissions, losses, log_alpha = ctx.saved_tensors
        occupancy = _occupancies(emissions, losses, log_alpha, ctx.batch, ctx.columns)
        blank = _folded_sum(occupancy[:, :, 0::2])  # (B, T)
        labels = ctx.label_sums(occupancy[:, :, 1::2], losses, ctx.columns)  # (B, T, K)
        sums = torch.cat([blank[:, :, None], labels], 2).to(log_probs.dtype)
        live = _before(ctx.batch.input_lengths, log_probs.size(0), log_probs.device)  # (B, T)
        if ctx.zero_infinity:
            live &= (losses != torch.inf)[:, None]
        # Without a finite loss there is no gradient: NaN in every class of every live frame.
        weights = torch.where(torch.isfinite(losses), grad_losses, torch.nan)
        grad = _gradient(log_probs, sums, ctx.columns, live.t(), weights.to(log_probs.dtype))
        return grad, None, None, None, None


def _forward_variables(emissions: Tensor, ids: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """(B,) losses and (B, T, 2L+1) log-alpha; cells past a length hold whatever was there."""
    return torch.ops.aten._ctc_loss(
        emissions, ids, list(batch.input_lengths), list(batch.target_lengths), 0, False
    )


def _before(lengths: tuple[int, ...] | Tensor, size: int, device: torch.device) -> Tensor:
    """(B, size) whether a position comes before the utterance's length."""
    lengths = torch.as_tensor(lengths, device=device)
    return torch.arange(size, device=device) < lengths[:, None]


def _reversal(lengths: Tensor, size: int) -> Tensor:
    """(B, size) index that reverses the first lengths[b] positions and keeps the rest."""
    position = torch.arange(size, device=lengths.device).expand(len(lengths), size)
    return torch.where(position < lengths[:, None], lengths[:, None] - 1 - position, position)


def _occupancies(
    emissions: Tensor,  # [T, B, K + 1]
    losses: Tensor,  # [B]
    log_alpha: Tensor,  # [B, T, S], S = 2L + 1
    batch: Batch,
    columns: Columns,
) -> Tensor:
    """(B, T, S) probability of being in state s at frame t, given the target; 0 past a length."""
    size, frames, states = log_alpha.shape
    device = log_alpha.device
    n_frames = torch.tensor(batch.input_lengths, device=device)
    n_labels = torch.tensor(batch.target_lengths, device=device)
    in_time = _reversal(n_frames, frames)  # (B, T)
    in_state = _reversal(2 * n_labels + 1, states)  # (B, S)
    _, log_beta = _forward_variables(
        emissions.gather(0, in_time.t()[:, :, None].expand_as(emissions)),
        columns.ids.gather(1, _reversal(n_labels, columns.ids.size(1))),
        batch,
    )
    utterance = torch.arange(size, device=device)[:, None, None]
    log_beta = log_beta[utterance, in_time[:, :, None], in_state[:, None, :]]
    column = torch.zeros(size, states, dtype=torch.int64, device=device)
    column[:, 1::2] = columns.ids
    inside = _before(2 * n_labels + 1, states, device)
    column = torch.where(inside, column, 0)[:, None].expand(-1, frames, -1)
    dead = (log_alpha == -torch.inf) | (log_beta == -torch.inf)
    dead |= ~inside[:, None] | ~_before(n_frames, frames, device)[:, :, None]
    # log gamma = log alpha + log beta - log p(emission) - log p(target): both recursions count
    # the emission of their own frame.
    log_gamma = log_beta.add_(log_alpha)
    log_gamma -= emissions.transpose(0, 1).gather(2, column)
    log_gamma += losses[:, None, None]
    return log_gamma.exp_().masked_fill_(dead, 0.0)


def _folded_sum(terms: Tensor) -> Tensor:
    """Sum over the last axis in an order that trailing zeros do not change.

    The upper half is added to the lower one until one number is left, halves being powers of two:
    a wider batch, whose additional terms are zero, gives the same bits.
    """
    while terms.size(-1) > 1:
        half = 1 << ((terms.size(-1) - 1).bit_length() - 1)
        lower = terms[..., :half].clone()
        lower[..., : terms.size(-1) - half] += terms[..., half:]
        terms = lower
    return terms[..., 0]


def label_sums_ascending(labels: Tensor, losses: Tensor, columns: Columns) -> Tensor:
    """(B, T, K) occupancy of each label: its occurrences added in ascending position."""
    return ordered_sums(labels, columns.positions())


def ordered_sums(terms: Tensor, index: Tensor) -> Tensor:
    """(B, T, K) sums of (B, T, L) terms in the order of a (B, K, R) index; index L adds nothing."""
    size, frames, _ = terms.shape
    terms = torch.nn.functional.pad(terms, (0, 1))
    sums = terms.new_zeros(size, frames, index.size(1))
    for taken in index.unbind(2):
        sums += terms.gather(2, taken[:, None].expand(-1, frames, -1))
    return sums


def _gradient(
    log_probs: Tensor,  # [T, B, V]
    sums: Tensor,  # [B, T, K + 1], occupancy of each column
    columns: Columns,
    live: Tensor,  # [T, B]
    weights: Tensor,  # [B], gradient of each loss
) -> Tensor:
    """(T, B, V) gradient (exp(log_probs) - occupancy) * weight, 0 where not live.

    Every class looks up its column (the last one for classes outside the target), so each cell is
    read into place. A scatter would do the same with less work, but PyTorch sorts and copies the
    whole gradient for one when deterministic algorithms are asked for.
    """
    classes = log_probs.size(2)
    by_frame = torch.nn.functional.pad(sums, (0, 1)).transpose(0, 1)  # (T, B, K + 2)
    column = columns.class_columns(classes)
    grad = log_probs.exp()
    step = max(1, CHUNK // column.numel())
    for part, occupancy, alive in zip(
        grad.split(step), by_frame.split(step), live.split(step), strict=True
    ):
        part -= occupancy.gather(2, column.expand(len(part), -1, -1))
        part *= weights[:, None]
        part.masked_fill_(~alive[:, :, None], 0.0)
    return grad
