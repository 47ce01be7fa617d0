"""The gradient of a CTC loss, guarded against being differentiated again."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

__all__ = ["differentiable_once"]


class _Refusal(torch.autograd.Function):
    """Passes the gradient on and raises if anybody differentiates through it."""

    @staticmethod
    def forward(ctx, grad: Tensor, *inputs: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def backward(ctx, *_) -> None:
        raise RuntimeError(
            "the CTC loss can be differentiated once, not twice; "
            "take no gradient of its gradient (create_graph=True)"
        )


def differentiable_once(backward: Callable) -> Callable:
    """Make a `Function.backward` whose first saved tensor is log_probs refuse a second derivative.

    PyTorch's own `once_differentiable` refuses only if the gradient from above needs one; the
    gradient here depends on log_probs too, and would silently count as a constant.
    """

    @wraps(backward)
    def guarded(ctx, grad_losses: Tensor) -> tuple[Tensor | None, ...]:
        with torch.no_grad():
            grad, *others = backward(ctx, grad_losses)
        if torch.is_grad_enabled():  # create_graph=True
            grad = _Refusal.apply(grad, grad_losses, ctx.saved_tensors[0])
        return grad, *others

    return guarded
