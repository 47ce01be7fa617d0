"""cuDNN's conditions and the cells that it leaves unwritten, as far as they need no GPU."""

from dataclasses import replace

import pytest
import torch
from ctc_cases import CASES, random_log_probs, run

from espnet_ctcrep.ctc.arguments import check_arguments
from espnet_ctcrep.ctc.cudnn import Request, check_conditions, defined_results
from espnet_ctcrep.utils.errors import InputError

GOOD = Request("cuda", torch.float32, 0, (300, 255, 5), (100, 255, 0), enabled=True)


def test_a_request_that_meets_all_conditions_passes():
    check_conditions(GOOD)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device_type": "cpu"}, "log_probs is on cpu"),
        ({"enabled": False}, r"torch.backends.cudnn.enabled is False; set it to True"),
        ({"dtype": torch.float64}, r"log_probs has type torch.float64; give float32"),
        ({"blank": 4}, "blank=4; make class 0 the blank"),
        ({"target_lengths": (100, 1, 256), "input_lengths": (300, 255, 300)}, r"\[2\]=256 is over"),
        ({"target_lengths": (100, 255, 6)}, r"target_lengths\[2\]=6 exceeds input_lengths\[2\]=5"),
        ({"input_lengths": (300, 255, 0)}, r"input_lengths\[2\]=0"),
    ],
)
def test_the_first_unmet_condition_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        check_conditions(replace(GOOD, **changes))


def test_of_several_unmet_conditions_the_first_is_named():
    with pytest.raises(InputError, match="is on cpu"):
        check_conditions(replace(GOOD, device_type="cpu", dtype=torch.float64, blank=1))


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_cells_that_cudnn_does_not_write_are_what_every_backend_has_there(zero_infinity):
    """Row 3. The second target fits by count (3 <= 4) but not with its repeats (5 frames)."""
    log_probs = random_log_probs(8, 3, 5)
    targets = torch.tensor([[1, 2, 1], [2, 2, 2], [3, 1, 2]])
    lengths = ([8, 4, 6], [3, 3, 2])
    batch = check_arguments(log_probs, targets, *lengths, 0)
    assert batch.required_frames == (3, 5, 2)
    reference = next(c for c in CASES if c.name == "one frame")  # only its fields are reused
    reference = replace(
        reference,
        log_probs=log_probs,
        targets=targets,
        input_lengths=lengths[0],
        target_lengths=lengths[1],
        zero_infinity=zero_infinity,
        grad_losses=torch.ones(3, dtype=torch.float64),
    )
    expected = run("native", reference)
    losses, grad = expected.losses.clone(), expected.grad.clone()
    # What cuDNN would hand back: whatever was in memory.
    losses[1], grad[:, 1], grad[6:, 2] = 12.5, torch.nan, 1e30
    losses, grad = defined_results(losses, grad, batch, zero_infinity)
    assert torch.equal(losses, expected.losses)
    assert torch.equal(grad.nan_to_num(nan=77.0), expected.grad.nan_to_num(nan=77.0))
