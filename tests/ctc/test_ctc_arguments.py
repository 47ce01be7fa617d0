"""Wrong arguments stop every backend with the same sentence, before any kernel runs."""

import pytest
import torch

from espnet_ctcrep.ctc import BACKENDS, CTCLoss, check_available, ctc_loss
from espnet_ctcrep.utils.errors import InputError

T, B, V = 6, 2, 5
GOOD = {
    "log_probs": torch.full((T, B, V), -1.6),
    "targets": torch.tensor([[1, 2, 3], [4, 1, 2]]),
    "input_lengths": [6, 5],
    "target_lengths": [3, 2],
}
ints = torch.tensor
BAD = {
    "log_probs no tensor": ({"log_probs": [[0.0]]}, "log_probs is a list"),
    "log_probs 4-D": ({"log_probs": torch.zeros(1, 6, 2, 5)}, r"log_probs has shape \(1,"),
    "log_probs integers": ({"log_probs": torch.zeros(6, 2, 5).long()}, "log_probs has type"),
    "no frames": ({"log_probs": torch.zeros(0, 2, 5)}, "log_probs has T=0"),
    "no utterances": ({"log_probs": torch.zeros(6, 0, 5)}, "log_probs has B=0"),
    "no classes": ({"log_probs": torch.zeros(6, 2, 0)}, "log_probs has V=0"),
    "blank negative": ({"blank": -1}, "blank=-1 is not a class"),
    "blank too large": ({"blank": 5}, "blank=5 is not a class.*use 0 to 4"),
    "blank no integer": ({"blank": 0.0}, "blank=0.0 is not a class"),
    "too many frames": ({"input_lengths": [6, 7]}, r"input_lengths\[1\]=7 exceeds the 6 frames"),
    "negative frames": ({"input_lengths": [-2, 5]}, r"input_lengths\[0\]=-2 is negative"),
    "frames of one only": ({"input_lengths": [6]}, "input_lengths has 1 entries for 2 utterances"),
    "frames 2-D": ({"input_lengths": torch.ones(2, 1).long()}, r"input_lengths has shape \(2, 1\)"),
    "frames float": ({"input_lengths": torch.ones(2)}, "input_lengths has type torch.float32"),
    "frames float list": ({"input_lengths": [6, 5.0]}, r"input_lengths\[1\]=5.0 is not an integer"),
    "frames bool": ({"input_lengths": [True, 5]}, r"input_lengths\[0\]=True is not an integer"),
    "negative labels": ({"target_lengths": ints([3, -1])}, r"target_lengths\[1\]=-1 is"),
    "more than columns": ({"target_lengths": [3, 4]}, r"target_lengths\[1\]=4 exceeds the 3"),
    "labels float": ({"target_lengths": [3.0, 2]}, r"target_lengths\[0\]=3.0 is not an integer"),
    "targets list": ({"targets": [1, 2, 3, 4, 1]}, "targets is a list"),
    "targets float": ({"targets": torch.ones(2, 3)}, "targets has type torch.float32"),
    "targets of three": ({"targets": torch.ones(3, 3).long()}, r"targets has shape \(3, 3\)"),
    "targets 3-D": ({"targets": torch.ones(2, 3, 1).long()}, r"targets has shape \(2, 3, 1\)"),
    "concatenated too short": ({"targets": torch.ones(4).long()}, "targets has 4 labels but.* 5"),
    "concatenated too long": ({"targets": torch.ones(6).long()}, "targets has 6 labels but.* 5"),
    "label = V": ({"targets": ints([[1, 2, 3], [4, 5, 2]])}, r"targets\[1,1\]=5 is not a label"),
    "label < 0": ({"targets": ints([[1, 2, -1], [4, 1, 2]])}, r"targets\[0,2\]=-1 is not a l"),
    "label < 0, joined": ({"targets": ints([1, 2, 3, -7, 1])}, r"targets\[3\]=-7 is not a l"),
    "label = blank": ({"targets": ints([[1, 2, 3], [4, 0, 2]])}, r"targets\[1,1\]=0 is the blank"),
    "label = blank 4": ({"blank": 4}, r"targets\[1,0\]=4 is the blank"),
    "reduction": ({"reduction": "avg"}, "reduction='avg' is unknown; use one of none, mean, sum"),
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("wrong", "message"), BAD.values(), ids=BAD)
def test_wrong_argument_is_named_with_index_and_value(backend, wrong, message):
    with pytest.raises(InputError, match=message):
        ctc_loss(**{**GOOD, **wrong}, backend=backend)


def test_unknown_names_are_answered_with_the_list():
    with pytest.raises(InputError, match="backend='cudn' is unknown; use one of deterministic, bu"):
        ctc_loss(**GOOD, backend="cudn")
    with pytest.raises(InputError, match="backend='' is unknown"):
        CTCLoss(backend="")
    with pytest.raises(InputError, match=r"deterministic_impl='cuda'.*aten, aten64, triton"):
        CTCLoss(deterministic_impl="cuda")
    with pytest.raises(InputError, match="reduction='total'"):
        CTCLoss(reduction="total")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "native", "deterministic_impl": "triton"}, "no effect with backend='native'"),
        ({"backend": "native", "shuffle_seed": 1}, "shuffle_seed=1 has no effect"),
        ({"backend": "shuffled", "shuffle_seed": -1}, "shuffle_seed=-1 is not a seed"),
        ({"backend": "shuffled", "shuffle_seed": 0.5}, "shuffle_seed=0.5 is not a seed"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        CTCLoss(**options)
    with pytest.raises(InputError, match=message):
        ctc_loss(**GOOD, **options)


def test_cudnn_on_the_cpu_is_refused_before_training_with_the_backends_that_run_there():
    message = "backend='cudnn' runs on cuda, not on cpu; use one of deterministic, builtin, native"
    with pytest.raises(InputError, match=message):
        check_available("cudnn", "cpu")
    with pytest.raises(InputError, match=message):
        ctc_loss(**GOOD, backend="cudnn")


def test_every_other_backend_is_available_on_the_cpu():
    for name in set(BACKENDS) - {"cudnn"}:
        check_available(name, "cpu")


def test_cudnn_needs_a_pytorch_with_cudnn(monkeypatch):
    check_available("cudnn", "cuda")
    monkeypatch.setattr(torch.backends.cudnn, "is_available", lambda: False)
    with pytest.raises(InputError, match="needs a PyTorch built with cuDNN"):
        check_available("cudnn", "cuda")


def test_triton_needs_the_package_on_cuda_only(monkeypatch):
    check_available("deterministic", "cuda", "triton")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    check_available("deterministic", "cpu", "triton")
    check_available("deterministic", "cuda", "aten")
    with pytest.raises(InputError, match="needs the package triton"):
        check_available("deterministic", "cuda", "triton")


def test_only_shuffled_has_a_notice_and_its_module_logs_it(caplog):
    for name in BACKENDS:
        CTCLoss(backend=name)
    assert [record.getMessage() for record in caplog.records] == [BACKENDS["shuffled"].notice]
    assert "random order on purpose" in BACKENDS["shuffled"].notice


def test_junk_in_the_padding_of_targets_is_not_read():
    clean = ctc_loss(**GOOD)
    junk = torch.tensor([[1, 2, 3], [4, 1, -(2**40)]])
    assert torch.equal(ctc_loss(**{**GOOD, "targets": junk}), clean)


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) - {"cudnn"}))
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.uint8])
def test_integer_types_lists_and_tensors_mean_the_same(backend, dtype):
    expected = ctc_loss(**GOOD, backend=backend)
    tensors = {
        "targets": GOOD["targets"].to(dtype),
        "input_lengths": torch.tensor([6, 5], dtype=dtype),
        "target_lengths": torch.tensor([3, 2], dtype=dtype),
    }
    assert torch.equal(ctc_loss(**{**GOOD, **tensors}, backend=backend), expected)
    mixed = {**tensors, "input_lengths": (6, 5), "target_lengths": list(torch.tensor([3, 2]))}
    assert torch.equal(ctc_loss(**{**GOOD, **mixed}, backend=backend), expected)


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) - {"cudnn"}))
@pytest.mark.parametrize("lengths", [(6, 3), ([6], [3]), (torch.tensor(6), torch.tensor(3))])
def test_one_utterance_without_a_batch_dimension(backend, lengths):
    log_probs = torch.randn(T, V).log_softmax(1)
    targets = torch.tensor([1, 1, 3])
    one = ctc_loss(log_probs, targets, *lengths, reduction="none", backend=backend)
    many = ctc_loss(log_probs[:, None], targets[None], [6], [3], reduction="none", backend=backend)
    assert one.shape == () and torch.equal(one, many[0])
