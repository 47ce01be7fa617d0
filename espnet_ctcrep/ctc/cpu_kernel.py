"""The fixed-order loss on the CPU: PyTorch's kernel, with a finite gradient at -inf."""

import torch
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch
from espnet_ctcrep.ctc.once import differentiable_once

__all__ = ["cpu_kernel_losses"]


class _CpuKernel(torch.autograd.Function):
    """PyTorch's CPU kernel is parallel over utterances only, so its order of sums is fixed."""

    @staticmethod
    def forward(ctx, log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
        ctx.arguments = (
            batch.targets,
            list(batch.input_lengths),
            list(batch.target_lengths),
        )
        ctx.blank, ctx.zero_infinity = batch.blank, zero_infinity
        losses, log_alpha = torch.ops.aten._ctc_loss(log_probs, *ctx.arguments, batch.blank, False)
        ctx.save_for_backward(log_probs, losses, log_alpha)
        return torch.where(losses == torch.inf, 0.0, losses) if zero_infinity else losses.clone()

    @staticmethod
    @differentiable_once
    def backward(ctx, grad_losses: Tensor) -> tuple[Tensor, None, None]:
        log_probs, losses, log_alpha = ctx.saved_tensors
        grad = torch.ops.aten._ctc_loss_backward(
            grad_losses,
            log_probs,
            *ctx.arguments,
            losses,
            log_alpha,
            ctx.blank,
            ctx.zero_infinity,
        )
        # PyTorch forms inf - inf at a class of probability 0. Its posterior is 0 too, and so is
        # their difference. The smallest entry tells whether there is one without a copy.
        if not torch.isfinite(log_probs.amin()):
            zero = (log_probs == -torch.inf) & torch.isfinite(losses)[None, :, None]
            grad.masked_fill_(zero, 0.0)
        return grad, None, None


def cpu_kernel_losses(log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
    """(B,) losses of (T, B, V) CPU log_probs, float32 or float64; differentiable once."""
    return _CpuKernel.apply(log_probs, batch, zero_infinity)
