"""PyTorch's own CTC kernels: the ones that it chooses, or always its native ones."""

import torch
import torch.nn.functional as F
from torch import Tensor

from espnet_ctcrep.ctc.arguments import Batch

__all__ = ["builtin_losses", "native_losses"]


def builtin_losses(log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
    """(B,) losses from torch.nn.functional.ctc_loss with the caller's own tensors.

    They are passed on unchanged because PyTorch chooses between cuDNN and its native kernels by
    their types and devices.
    """
    targets, input_lengths, target_lengths = batch.given
    if targets.dtype not in (torch.int32, torch.int64):
        targets = targets.long()  # PyTorch's kernels read nothing else
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, batch.blank, "none", zero_infinity
    )


def native_losses(log_probs: Tensor, batch: Batch, zero_infinity: bool) -> Tensor:
    """(B,) losses from PyTorch's native kernels; their CUDA backward adds with atomics."""
    # The operator below is what F.ctc_loss calls when it has decided against cuDNN, so cuDNN is
    # left out without a switch that other threads would see.
    losses, _ = torch.ops.aten._ctc_loss(
        log_probs,
        batch.targets.to(log_probs.device),
        list(batch.input_lengths),
        list(batch.target_lengths),
        batch.blank,
        zero_infinity,
    )
    return torch.where(losses == torch.inf, 0.0, losses) if zero_infinity else losses
