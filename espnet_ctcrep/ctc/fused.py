"""The fixed-order loss on CUDA as two fused Triton kernels: recursions, then gradient.

Every cell of every output has one writer, and sums are taken in an order that only the data and
the fixed block sizes decide: there is no atomic operation and nothing is autotuned.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch
from espnet_ctcrep.ctc.columns import compact_columns
from espnet_ctcrep.ctc.once import differentiable_once

__all__ = ["LaunchShape", "fused_losses", "launch_shape"]

NEG = tl.constexpr(float("-inf"))
INF = tl.constexpr(float("inf"))
NAN = tl.constexpr(float("nan"))


@triton.jit
def _log_add(a, b):
    """log(exp(a) + exp(b)), -inf for two impossible ones; NaN is passed on by the exponentials."""
    m = tl.maximum(a, b)
    m = tl.where(m == NEG, 0.0, m)
    return tl.log(tl.exp(a - m) + tl.exp(b - m)) + m


@triton.jit
def _log_add3(a, b, c):
    m = tl.maximum(tl.maximum(a, b), c)
    m = tl.where(m == NEG, 0.0, m)
    return tl.log(tl.exp(a - m) + tl.exp(b - m) + tl.exp(c - m)) + m


@triton.jit
def _emissions(
    label_columns,  # [BLOCK] pointers to each label's log-probability at frame 0
    blank_column,  # the blank's
    step,
    n_frames,
    backward,
    stride_t,
    is_label,  # [BLOCK]
):
    """Log-probabilities of the labels and of the blank at a step; -inf where there is none."""
    live = step < n_frames
    t = tl.where(backward, n_frames - 1 - step, step).to(tl.int64)
    label = tl.load(label_columns + t * stride_t, mask=is_label & live, other=NEG)
    blank = tl.load(blank_column + t * stride_t, mask=live, other=NEG)
    return label, blank


@triton.jit
def _advance(
    blank,  # [BLOCK] blank states up to and with the previous frame
    label,  # [BLOCK] label states, likewise
    e_blank,
    e_label,  # [BLOCK]
    step,
    n_frames,
    backward,
    may_skip,  # [BLOCK] the label differs from the one before it
    is_blank,  # [BLOCK]
    is_label,  # [BLOCK]
    out,  # [T, S]
    blank_cell,  # [BLOCK] place of each blank state in a row of `out`
    label_cell,  # [BLOCK]
    S,
    BLOCK: tl.constexpr,
    KEEP: tl.constexpr,
):
    """One frame of the recursion; past the last frame nothing changes and nothing is stored."""
    j = tl.arange(0, BLOCK)
    live = step < n_frames
    before = tl.where(j > 0, tl.gather(label, tl.maximum(j - 1, 0), 0), NEG)
    # blank j:  from itself and from the label before it
    # label j:  from itself, the blank before it, and the label before it if that is another one
    to_blank = tl.where(is_blank, _log_add(blank, before), NEG)
    to_label = _log_add3(label, blank, tl.where(may_skip, before, NEG))
    to_label = tl.where(is_label, to_label, NEG)
    with_blank = tl.where(is_blank, to_blank + e_blank, NEG)
    with_label = tl.where(is_label, to_label + e_label, NEG)
    if KEEP:
        t = tl.where(backward, n_frames - 1 - step, step).to(tl.int64)
        row = out + t * S
        tl.store(row + blank_cell, tl.where(backward, to_blank, with_blank), mask=is_blank & live)
        tl.store(row + label_cell, tl.where(backward, to_label, with_label), mask=is_label & live)
    return tl.where(live, with_blank, blank), tl.where(live, with_label, label)


@triton.jit
def _recursions(
    log_probs,  # [T, B, V], any strides
    blank_log_probs,  # [T, B], the blank's column of it
    targets,  # [B, L] int64
    input_lengths,  # [B] int32
    target_lengths,  # [B] int32
    variables,  # [2, B, T, S] log-alpha with, log-beta without the emission of its frame
    losses,  # [B]
    stride_t,
    stride_b,
    stride_v,
    B,
    T,
    L,
    BLOCK: tl.constexpr,
    KEEP: tl.constexpr,
):
    """Program (b, 0) runs alpha, program (b, 1) beta: the same steps from the other end.

    With target and time reversed, beta is alpha. Blank and label states are two vectors, so that
    a step needs one shift only. A row of S = 2L + 1 holds blanks 0 to L, then labels 0 to L-1.
    """
    b = tl.program_id(0).to(tl.int64)
    backward = tl.program_id(1) == 1
    S = 2 * L + 1
    n_frames = tl.load(input_lengths + b)
    n_labels = tl.load(target_lengths + b)
    j = tl.arange(0, BLOCK)
    is_blank = j <= n_labels
    is_label = j < n_labels
    i = tl.where(backward, n_labels - 1 - j, j)  # position in the target
    previous = tl.where(backward, i + 1, i - 1)
    has_previous = is_label & (j > 0)
    y = tl.load(targets + b * L + i, mask=is_label, other=0)
    y_previous = tl.load(targets + b * L + previous, mask=has_previous, other=0)
    may_skip = has_previous & (y != y_previous)
    label_columns = log_probs + b * stride_b + y * stride_v
    blank_column = blank_log_probs + b * stride_b
    out = variables + (tl.program_id(1).to(tl.int64) * B + b) * T * S
    blank_cell = tl.where(backward, n_labels - j, j)
    label_cell = L + 1 + i

    # The first frame: an alignment starts with the first blank or the first label.
    e_label, e_blank = _emissions(
        label_columns, blank_column, 0, n_frames, backward, stride_t, is_label
    )
    first = j == 0
    blank = tl.where(first, e_blank, NEG)
    label = tl.where(first & is_label, e_label, NEG)
    if KEEP:
        row = out + tl.where(backward, n_frames - 1, 0).to(tl.int64) * S
        start = tl.where(first, 0.0, NEG).to(label.dtype)
        live = n_frames > 0
        tl.store(row + blank_cell, tl.where(backward, start, blank), mask=is_blank & live)
        tl.store(row + label_cell, tl.where(backward, start, label), mask=is_label & live)

    # Four frames a turn: the loads of the next turn are under way while this one is computed.
    l0, b0 = _emissions(label_columns, blank_column, 1, n_frames, backward, stride_t, is_label)
    l1, b1 = _emissions(label_columns, blank_column, 2, n_frames, backward, stride_t, is_label)
    l2, b2 = _emissions(label_columns, blank_column, 3, n_frames, backward, stride_t, is_label)
    l3, b3 = _emissions(label_columns, blank_column, 4, n_frames, backward, stride_t, is_label)
    for step in range(1, n_frames, 4):
        m0, c0 = _emissions(
            label_columns, blank_column, step + 4, n_frames, backward, stride_t, is_label
        )
        m1, c1 = _emissions(
            label_columns, blank_column, step + 5, n_frames, backward, stride_t, is_label
        )
        m2, c2 = _emissions(
            label_columns, blank_column, step + 6, n_frames, backward, stride_t, is_label
        )
        m3, c3 = _emissions(
            label_columns, blank_column, step + 7, n_frames, backward, stride_t, is_label
        )
        blank, label = _advance(
            blank, label, b0, l0, step, n_frames, backward, may_skip, is_blank, is_label,
            out, blank_cell, label_cell, S, BLOCK, KEEP,
        )  # fmt: skip
        blank, label = _advance(
            blank, label, b1, l1, step + 1, n_frames, backward, may_skip, is_blank, is_label,
            out, blank_cell, label_cell, S, BLOCK, KEEP,
        )  # fmt: skip
        blank, label = _advance(
            blank, label, b2, l2, step + 2, n_frames, backward, may_skip, is_blank, is_label,
            out, blank_cell, label_cell, S, BLOCK, KEEP,
        )  # fmt: skip
        blank, label = _advance(
            blank, label, b3, l3, step + 3, n_frames, backward, may_skip, is_blank, is_label,
            out, blank_cell, label_cell, S, BLOCK, KEEP,
        )  # fmt: skip
        l0, b0, l1, b1, l2, b2, l3, b3 = m0, c0, m1, c1, m2, c2, m3, c3

    # One term each: tl.max would pick it as well, but drops a NaN.
    last_blank = tl.sum(tl.where(j == n_labels, blank, 0.0), 0)
    last_label = tl.sum(tl.where(j == n_labels - 1, label, 0.0), 0)
    last_label = tl.where(n_labels > 0, last_label, NEG)
    loss = 0.0 - _log_add(last_blank, last_label)
    without_frames = tl.where(n_labels == 0, 0.0, INF)
    tl.store(losses + b, tl.where(n_frames > 0, loss, without_frames), mask=backward == 0)


@triton.jit
def _occupancy(alpha, beta, loss):
    """Probability of a state at a frame, given the target; 0 for one that cannot be reached."""
    x = alpha + beta
    return tl.where(x == NEG, 0.0, tl.exp(x + loss))


@triton.jit
def _gradient(
    log_probs,  # [T, B, V], any strides
    grad,  # [T, B, V], any strides
    grad_losses,  # [B]
    variables,  # [2, B, T, S]
    losses,  # [B]
    input_lengths,  # [B] int32
    target_lengths,  # [B] int32
    classes,  # [B, K + 1] class of each column, the blank's first
    order,  # [B, L] positions in the target by column, ascending
    starts,  # [B, K] into `order`
    counts,  # [B, K]
    in_target,  # [B, V] uint8, 1 for the blank and for labels of the target
    stride_t,
    stride_b,
    stride_v,
    grad_stride_t,
    grad_stride_b,
    grad_stride_v,
    B,
    T,
    V,
    L,
    K,
    repeats,
    ZERO_INFINITY: tl.constexpr,
    BLOCK_L: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    """Program (t, b) writes the V gradients of one frame, each of them once.

    (exp(log_probs) - occupancy) * grad_loss; the occupancy of a label is the sum over its
    occurrences in ascending position, the blank's a sum by a tree that BLOCK_L fixes.
    """
    t = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    S = 2 * L + 1
    n_labels = tl.load(target_lengths + b)
    loss = tl.load(losses + b)
    weight = tl.load(grad_losses + b)
    live = t < tl.load(input_lengths + b)
    if ZERO_INFINITY:
        live = live & (loss != INF)
    # Without a finite loss there is no gradient: NaN in every class of every live frame.
    weight = tl.where((loss == INF) | (loss != loss), NAN, weight)
    source = log_probs + t * stride_t + b * stride_b
    sink = grad + t * grad_stride_t + b * grad_stride_b
    if live:
        alpha = variables + (b * T + t) * S
        beta = variables + ((B + b) * T + t) * S  # 64 bits wide, because b is
        i = tl.arange(0, BLOCK_L)
        blank_alpha = tl.load(alpha + i, mask=i <= n_labels, other=NEG)
        blank_beta = tl.load(beta + i, mask=i <= n_labels, other=NEG)
        total = tl.sum(_occupancy(blank_alpha, blank_beta, loss), 0)
        blank = tl.load(classes + b * (K + 1))
        x = tl.load(source + blank * stride_v)
        tl.store(sink + blank * grad_stride_v, (tl.exp(x) - total) * weight)

        k = tl.arange(0, BLOCK_K)
        count = tl.load(counts + b * K + k, mask=k < K, other=0)
        start = tl.load(starts + b * K + k, mask=k < K, other=0)
        label = tl.load(classes + b * (K + 1) + 1 + k, mask=k < K, other=0)
        used = count > 0
        sums = tl.zeros([BLOCK_K], dtype=losses.dtype.element_ty)
        for r in range(0, repeats):
            taken = r < count
            position = tl.load(order + b * L + start + r, mask=taken, other=0)
            label_alpha = tl.load(alpha + L + 1 + position, mask=taken, other=NEG)
            label_beta = tl.load(beta + L + 1 + position, mask=taken, other=NEG)
            sums += _occupancy(label_alpha, label_beta, loss)
        own = tl.load(source + label * stride_v, mask=used, other=NEG)
        tl.store(sink + label * grad_stride_v, (tl.exp(own) - sums) * weight, mask=used)

    for v0 in range(0, V, BLOCK_V):
        v = v0 + tl.arange(0, BLOCK_V)
        inside = v < V
        done = tl.load(in_target + b * V + v, mask=inside & live, other=0) != 0
        column = v.to(tl.int64)
        row = tl.load(source + column * stride_v, mask=inside & live, other=NEG)
        value = tl.where(live, tl.exp(row) * weight, 0.0)
        tl.store(sink + column * grad_stride_v, value, mask=inside & (done == 0))


@dataclass(frozen=True)
class LaunchShape:
    """Block sizes and warps, fixed by the shape of the batch: they are part of the result."""

    block_states: int  # L + 1, rounded up: blanks, and labels with one unused place
    block_columns: int  # K, rounded up
    block_classes: int  # classes at a time
    warps_recursion: int  # about a state a thread, up to eight warps
    warps_gradient: int


def launch_shape(longest: int, columns: int, classes: int) -> LaunchShape:
    """The launch for targets of up to `longest` labels, `columns` of them different."""
    states = max(16, triton.next_power_of_2(longest + 1))
    return LaunchShape(
        block_states=states,
        block_columns=max(16, triton.next_power_of_2(columns)),
        block_classes=min(1024, max(32, triton.next_power_of_2(classes))),
        warps_recursion=min(8 if states > 512 else 4, max(1, states // 32)),
        warps_gradient=4,
    )


class _FusedCTC(torch.autograd.Function):
    @staticmethod
    def forward(ctx, log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
        frames, size, classes = log_probs.shape
        device = log_probs.device
        columns = compact_columns(batch)
        longest = batch.targets.size(1)
        shape = launch_shape(longest, columns.counts.size(1), classes)
        n_frames, n_labels = (
            torch.tensor(lengths, dtype=torch.int32, device=device)
            for lengths in (batch.input_lengths, batch.target_lengths)
        )
        keep = ctx.needs_input_grad[0]
        states = (2, size, frames, 2 * longest + 1) if keep else (0,)
        variables = log_probs.new_empty(states)
        losses = log_probs.new_empty(size)
        with torch.cuda.device_of(log_probs):  # else Triton launches on the current device
            _recursions[(size, 2 if keep else 1)](
                log_probs,
                log_probs[:, :, batch.blank],
                batch.targets.to(device),
                n_frames,
                n_labels,
                variables,
                losses,
                *log_probs.stride(),
                size,
                frames,
                longest,
                BLOCK=shape.block_states,
                KEEP=keep,
                num_warps=shape.warps_recursion,
            )
        ctx.save_for_backward(log_probs, variables, losses, n_frames, n_labels)
        ctx.columns, ctx.shape, ctx.zero_infinity = columns, shape, zero_infinity
        return torch.where(losses == torch.inf, 0.0, losses) if zero_infinity else losses.clone()

    @staticmethod
    @differentiable_once
    def backward(ctx, grad_losses: Tensor) -> tuple[Tensor, None, None]:
        log_probs, variables, losses, n_frames, n_labels = ctx.saved_tensors
        frames, size, classes = log_probs.shape
        columns, shape = ctx.columns.to(log_probs.device), ctx.shape
        longest, different = columns.order.size(1), columns.counts.size(1)
        grad = torch.empty_like(log_probs)
        with torch.cuda.device_of(log_probs):
            _gradient[(frames, size)](
                log_probs,
                grad,
                grad_losses.contiguous(),
                variables,
                losses,
                n_frames,
                n_labels,
                columns.classes,
                columns.order,
                columns.starts,
                columns.counts,
                (columns.class_columns(classes) <= different).to(torch.uint8),
                *log_probs.stride(),
                *grad.stride(),
                size,
                frames,
                classes,
                longest,
                different,
                columns.repeats,
                ZERO_INFINITY=ctx.zero_infinity,
                BLOCK_L=shape.block_states,
                BLOCK_K=shape.block_columns,
                BLOCK_V=shape.block_classes,
                num_warps=shape.warps_gradient,
            )
        return grad, None, None


def fused_losses(log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
    """(B,) losses of (T, B, V) log_probs, float32 or float64; differentiable once.

    Memory beside log_probs and the gradient: log-alpha and log-beta, (B, T, 2L+1) each, and
    integer tables of (B, V). Runs on CUDA, or anywhere in Triton's interpreter.
    """
    return _FusedCTC.apply(log_probs, batch, zero_infinity)
