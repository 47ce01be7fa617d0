"""One CTC loss and six ways to compute it."""

from espnet_ctcrep.ctc.loss import REDUCTIONS, CTCLoss, ctc_loss
from espnet_ctcrep.ctc.registry import (
    BACKENDS,
    DETERMINISTIC_IMPLS,
    Backend,
    check_available,
    check_options,
    get_backend,
)

__all__ = [
    "BACKENDS",
    "DETERMINISTIC_IMPLS",
    "REDUCTIONS",
    "Backend",
    "CTCLoss",
    "check_available",
    "check_options",
    "ctc_loss",
    "get_backend",
]
